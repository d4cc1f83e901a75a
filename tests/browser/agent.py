"""An agent as a process of its own: `python -m tests.browser.agent METHOD URL [BODY]`, the token in SAYSO_TOKEN.

Prints `{status, headers, body}` of the answer as JSON, however long it takes.
"""

import json
import os
import sys
import urllib.error
import urllib.request


def main() -> None:
    method, url, *rest = sys.argv[1:]
    headers = {"Authorization": f"Bearer {os.environ['SAYSO_TOKEN']}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, method=method, data=rest[0].encode() if rest else None, headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=120)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        body = json.loads(answer.read() or b"null")
        print(json.dumps({"status": answer.status, "headers": dict(answer.headers), "body": body}))


if __name__ == "__main__":
    main()
