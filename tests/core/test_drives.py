"""Network drives are told from local ones by the system's own table of mounts."""

import sys
from pathlib import Path

import pytest

from reqall.core.database import Database
from reqall.core.drives import network_mount
from reqall.core.errors import CatalogError

LINUX = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
22 21 0:20 / /proc rw,nosuid - proc proc rw
30 21 0:40 / /home rw,relatime shared:9 master:2 - nfs4 server:/export/home rw,vers=4.2,proto=tcp
31 30 8:2 / /home/me/scratch rw - xfs /dev/sdb1 rw
32 21 0:41 / /mnt/share\\040of\\040all rw - cifs //server/share rw,username=me
33 21 0:42 / /mnt/remote rw,nosuid - fuse.sshfs me@host: rw,user_id=1000
34 21 0:43 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync,aname=drvfs;path=C:\\;uid=1000,trans=fd
35 21 0:44 / /sandbox rw - 9p none rw,trans=fd
36 21 0:45 / /crypt rw - fuse.gocryptfs /home/x rw
37 21 0:46 / /data rw - nfs server:/data rw
38 37 8:3 / /data rw - ext4 /dev/sdc1 rw
39 21 0:47 / /empty rw - tmpfs  rw,size=1k
"""
MAC = """\
/dev/disk1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk1s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//me@server/share (old) on /Volumes/share (old) (smbfs, nodev, nosuid, mounted by me)
server:/export on /Volumes/export (nfs, asynchronous)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/srv/catalog.db", None),
        ("/home/me/.local/share/reqall/catalog.db", "nfs4"),
        ("/home", "nfs4"),
        ("/homework/catalog.db", None),
        ("/home/me/scratch/catalog.db", None),
        ("/mnt/share of all/x/catalog.db", "cifs"),
        ("/mnt/remote/catalog.db", "fuse.sshfs"),
        ("/mnt/c/Users/me/catalog.db", "9p"),
        ("/sandbox/catalog.db", None),
        ("/crypt/catalog.db", None),
        ("/data/catalog.db", None),
        ("/empty/catalog.db", None),
        ("/srv/../home/catalog.db", "nfs4"),
    ],
)
def test_linux(path, expected):
    found = network_mount(Path(path), LINUX)
    assert (found and found.type) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/Volumes/share (old)/catalog.db", "smbfs"), ("/Volumes/export/x", "nfs"), ("/Library/catalog.db", None)],
)
def test_mac(path, expected):
    found = network_mount(Path(path), MAC)
    assert (found and found.type) == expected


@pytest.mark.parametrize("table", ["", "nonsense\n", "1 2 3\n"])
def test_what_cannot_be_told_is_local(table):
    assert network_mount(Path("/home/me/catalog.db"), table) is None


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "afs", "ceph", "lustre", "fuse.rclone", "vboxsf"])
def test_a_database_there_is_refused_before_anything_is_made(tmp_path, kind):
    table = f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:9 / {tmp_path} rw - {kind} server:/x rw\n"
    with pytest.raises(CatalogError, match=f"network drive \\({kind} at") as caught:
        Database(tmp_path / "new" / "catalog.db", mounts=table)
    assert "JAMA_MCP_DB_PATH" in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_network_drive_is_followed(tmp_path):
    (tmp_path / "share").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "share")
    table = f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:9 / {tmp_path}/share rw - nfs server:/x rw\n"
    with pytest.raises(CatalogError, match="network drive"):
        Database(tmp_path / "link" / "catalog.db", mounts=table)
    Database(tmp_path / "catalog.db", mounts=table).close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's own table")
def test_this_machines_own_table_is_read():
    assert network_mount(Path("/proc/self/catalog.db")) is None
    assert Path("/proc/self/mountinfo").read_text(encoding="utf-8").count(" - ") > 1
