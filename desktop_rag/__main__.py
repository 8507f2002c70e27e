"""`python -m desktop_rag`: the window, a verb, or, with `--worker`, the parser process."""

import sys

if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        from desktop_rag.ingest.parsing import parser_child

        parser_child.main()
    else:
        from desktop_rag.cli.main import main

        sys.exit(main())
