"""A PEP 517 backend that needs nothing but Python, so that pip can install this folder offline."""

import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).parent


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    points = "".join(f"{name} = {target}\n" for name, target in project["entry-points"]["reqall"].items())
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    files = {
        "acme_fusers.py": (HERE / "acme_fusers.py").read_text(),
        f"{stem}.dist-info/METADATA": metadata
        + "".join(f"Requires-Dist: {name}\n" for name in project["dependencies"]),
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: own\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/entry_points.txt": f"[reqall]\n{points}",
    }
    files[f"{stem}.dist-info/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{stem}.dist-info/RECORD"])
    wheel = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel
