"""What every recaller keeps, and every one that can be dropped and inspected."""

import pytest
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import build_tantivy

from reqall.testing.contracts import DropContract, InspectionContract, RecallerContract


class TestTantivy(RecallerContract, DropContract, InspectionContract):
    lexical = True

    @pytest.fixture
    def make_recaller(self):
        return lambda services: build_tantivy(TantivyOptions(), services)
