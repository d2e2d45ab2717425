"""A recording in processes that were started and not forked: they send their outcomes to the process that records."""

import json
import os
import threading
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Any, Callable, Dict, Mapping, Optional, Tuple

from ._binary import Error

Ask = Callable[[Mapping[str, Any]], Dict[str, Any]]
#: Where a process listens, and the key that others need.
Address = Tuple[Any, bytes]


class Server:
    """Answers the requests of other processes of this user on this machine, as long as the recording lasts."""

    def __init__(self, ask: Ask) -> None:
        key = os.urandom(32)
        self._ask = ask
        self._listener = Listener(authkey=key)
        self.address: Address = (self._listener.address, key)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except (AuthenticationError, EOFError):
                continue
            except OSError:
                # Closed.
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: "Connection[Any, Any]") -> None:
        with connection:
            while True:
                try:
                    request = json.loads(connection.recv_bytes().decode("utf-8"))
                    try:
                        answer = self._ask(request)
                    except Error as error:
                        answer = {"error": error.message, "hint": error.hint}
                    connection.send_bytes(json.dumps(answer).encode("utf-8"))
                except (EOFError, OSError, ValueError):
                    # The other process has ended.
                    return


class Remote:
    """The way to the process that records, from another one."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._mutex = threading.Lock()
        self._connection: "Optional[Connection[Any, Any]]" = None
        self._process = 0

    def ask(self, line: bytes) -> Dict[str, Any]:
        """Sends one request and waits for its answer.

        Raises:
            Error: The request was refused, or the recording has ended.
        """
        with self._mutex:
            try:
                if self._connection is None or self._process != os.getpid():
                    place, key = self.address
                    self._connection = Client(place, authkey=key)
                    self._process = os.getpid()
                self._connection.send_bytes(line)
                answer: Dict[str, Any] = json.loads(self._connection.recv_bytes().decode("utf-8"))
            except (OSError, EOFError, AuthenticationError) as error:
                self._connection = None
                raise Error("the process that records the run has ended it") from error
        if "error" in answer:
            raise Error(answer["error"], answer.get("hint"))
        return answer
