"""`python -m proxy` is `olvido`."""

import sys

from proxy.cli import main

sys.exit(main())
