# SPDX-License-Identifier: Apache-2.0
"""The WSGI application under waitress: one thread reads, and THREADS others serve."""
import sys

import waitress

from wsgi import application

THREADS = 16

waitress.serve(application, host=sys.argv[1], port=int(sys.argv[2]), threads=THREADS)
