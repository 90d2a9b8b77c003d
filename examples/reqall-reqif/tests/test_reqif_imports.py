"""Listing the plugin and its tools imports neither XML nor the library."""

import subprocess
import sys

CHECK = """
import sys
import reqall_reqif
(found,) = reqall_reqif.register_sources()
found.tools("parts", lambda: None)
source = found.build(found.options(path="nowhere"), __import__("reqall").Services(name="parts"))
source.validate(live=False)
late = {"lxml", "reqif", "openpyxl", "xmlschema", "jinja2"}
print(source.name, sorted(late & {name.split(".")[0] for name in sys.modules}))
"""


def test_heavy_libraries_wait_for_the_first_file():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHECK], capture_output=True, text=True, encoding="utf-8", timeout=60
    )
    assert (done.stdout, done.stderr) == ("parts []\n", "")


def test_every_option_is_described():
    from reqall_reqif.options import ReqifOptions

    assert all(field.description for field in ReqifOptions.model_fields.values())
    assert ReqifOptions(path="x", key_attributes="ID").key_attributes == ("ID",)
