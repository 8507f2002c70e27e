"""`python -m desktop_rag`: the window, a verb, or, with `--worker`, the parser process."""

import sys

if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        from desktop_rag.ingest import worker_child

        worker_child.main()
    else:
        from desktop_rag import cli

        sys.exit(cli.main())
