"""Network drives, where SQLite's write-ahead log is unsafe.

The log's index is memory that all processes share, which no network file system offers
(https://sqlite.org/wal.html, "all processes must be on the same host").
"""

import re
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

from reqall.core.errors import CatalogError

_NETWORK = re.compile(
    "nfs[34]?|cifs|smb[23]|smbfs|ncpfs|afs|afpfs|ceph|coda|davfs|webdav|glusterfs|lustre|gpfs|beegfs|orangefs|pvfs2"
    "|ocfs2|gfs2|moosefs|vboxsf|prl_fs|vmhgfs"
)
_NETWORK_FUSE = re.compile(
    "fuse[.](sshfs|ceph|ceph-fuse|glusterfs|smbnetfs|davfs2|curlftpfs|rclone|s3fs|gcsfuse|goofys|blobfuse2?|juicefs"
    "|gvfsd-fuse|vmhgfs-fuse|mfs|moosefs)"
)
_LINUX = re.compile(r"\S+ \S+ \S+ \S+ (?P<mount>\S+) .*? - (?P<type>\S+) \S* ?(?P<options>.*)")
_BSD = re.compile(r".+? on (?P<mount>/.*) \((?P<type>[\w.]+)(?P<options>[^()]*)\)")
_REMOTE = 4
"""Windows' DRIVE_REMOTE (GetDriveTypeW)."""


class Mount(NamedTuple):
    """A file system and where it hangs in the tree; `options` as the table writes them."""

    point: Path
    type: str
    options: str

    @property
    def is_network(self) -> bool:
        """Tell whether other machines, or the other side of a virtual machine, write to it too."""
        # WSL shows the folders of Windows as 9p; elsewhere 9p may be a sandbox's own local disk.
        is_windows = self.type in ("9p", "v9fs") and "drvfs" in self.options
        return bool(_NETWORK.fullmatch(self.type) or _NETWORK_FUSE.fullmatch(self.type) or is_windows)


def network_mount(path: Path, table: str | None = None) -> Mount | None:
    """Return the network file system that a path lies on, None for a local one or one that cannot be told.

    `table` is the system's list of mounts: Linux's /proc/self/mountinfo (proc(5)) or what `mount` prints on a Mac.
    """
    if table is None and sys.platform == "win32":
        return _windows(path)
    place = path.absolute().resolve()
    holding = [mount for mount in _mounts(_table() if table is None else table) if place.is_relative_to(mount.point)]
    # Of several mounts on one point the last one hides the others.
    found = max(enumerate(holding), key=lambda pair: (len(pair[1].point.parts), pair[0]), default=None)
    return found[1] if found and found[1].is_network else None


def require_local(path: Path, table: str | None = None) -> None:
    """Refuse a database on a network drive. Raises CatalogError; OSError where the path cannot be followed."""
    mount = network_mount(path, table)
    if mount:
        raise CatalogError(
            f"{path} lies on a network drive ({mount.type} at {mount.point}), where SQLite's write-ahead log is unsafe:"
            " all that read and write it must share the memory of one machine",
            "set JAMA_MCP_DB_PATH to a file on a local disk",
        )


def _mounts(table: str) -> list[Mount]:
    matches = (_LINUX.fullmatch(line) or _BSD.fullmatch(line) for line in table.splitlines())
    return [Mount(Path(_unescaped(m["mount"])), m["type"].lower(), m["options"]) for m in matches if m]


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _table() -> str:
    try:
        if sys.platform == "darwin":
            return subprocess.run(["/sbin/mount"], capture_output=True, text=True, timeout=5, check=False).stdout
        return Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""  # what cannot be told is taken as local


def _windows(path: Path) -> Mount | None:
    import ctypes

    drive = PureWindowsPath(path.absolute()).anchor
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - known to the type checker on Windows only
    if drive.startswith("\\\\") or kernel.GetDriveTypeW(drive) == _REMOTE:
        return Mount(Path(drive), "smbfs", "")
    return None
