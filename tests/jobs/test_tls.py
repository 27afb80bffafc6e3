"""Is a cluster reached over TLS, with Dask's own settings?"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from pathlib import Path

import dask
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from outside import Outside
from toy_experiment import ToyConfig

from normviz.jobs.board import Board
from normviz.jobs.cluster import Cluster
from normviz.jobs.job import JobView

# As in the README.
SETTINGS = {
    "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": "cluster.pem",
    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": "cluster.pem",
    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": "key.pem",
    "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true",
}


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A folder with a certificate that signs itself, which all machines of a cluster share, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "cluster")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "cluster.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "key.pem").write_bytes(key.private_bytes(*secret))
    return tmp_path


@pytest.fixture
def outside(certificate: Path) -> Iterator[Outside]:
    cert, key = str(certificate / "cluster.pem"), str(certificate / "key.pem")
    options = ["--protocol", "tls", "--tls-ca-file", cert, "--tls-cert", cert, "--tls-key", key]
    outside = Outside(certificate, options=options)
    outside.hire()
    yield outside
    outside.close()


def test_a_cluster_over_tls(
    outside: Outside,
    certificate: Path,
    make_board: Callable[..., Board],
    ended: Callable[..., JobView],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert outside.address.startswith("tls://")
    stranger = Cluster(outside.address)
    assert stranger.wait(20) == "failed"
    assert "is no Dask scheduler that can be used" in str(stranger.reason)
    stranger.close()
    monkeypatch.chdir(certificate)
    # What a new process reads from its environment.
    settings = {name[5:].lower().replace("__", "."): dask.config.interpret_value(SETTINGS[name]) for name in SETTINGS}
    with dask.config.set(settings):
        cluster = Cluster(outside.address)
        board = make_board(cluster=cluster)
        config = ToyConfig(name="over tls", size=3)
        view = ended(board, board.submit("toy", config), 30)
        assert (view.state, view.done) == ("done", 3), cluster.reason
        cluster.close()
