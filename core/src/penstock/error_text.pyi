# Written by scripts/stubs.py, of the table in the module.

from penstock.shown import clipped as clipped
from penstock.near_names import did_you_mean as did_you_mean
from penstock.near_names import near_names as near_names
from penstock.shown import printable as printable
from penstock.shown import quoted as quoted
from penstock.shown import shown as shown
