"""Asks the server of this container whether it answers; the exit code says so.

Over TLS the certificate is not checked: it names the server as others reach it, not this address.
"""

import http.client
import ssl
import sys

PORT = 8642
_WAIT_S = 8


def is_well(port: int = PORT) -> bool:
    """True when the server on this port says that it is well, in the clear or over TLS."""
    foreign = ssl.create_default_context()
    foreign.check_hostname = False
    foreign.verify_mode = ssl.CERT_NONE
    for connection in (
        http.client.HTTPConnection("127.0.0.1", port, timeout=_WAIT_S),
        http.client.HTTPSConnection("127.0.0.1", port, timeout=_WAIT_S, context=foreign),
    ):
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == http.client.OK:
                return True
        except (OSError, http.client.HTTPException):
            continue
        finally:
            connection.close()
    return False


if __name__ == "__main__":
    sys.exit(0 if is_well() else 1)
