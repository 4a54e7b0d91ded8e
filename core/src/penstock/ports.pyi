# Written by scripts/stubs.py, of the table in the module.

from penstock.port_tags import PortKey as PortKey
from penstock.contract import PortSpec as PortSpec
from penstock.contract import PortSpecs as PortSpecs
from penstock.port_collection import Ports as Ports
from penstock.port_tags import TagMap as TagMap
from penstock.port_tags import TaggedPort as TaggedPort
from penstock.port_tags import is_name as is_name
from penstock.port_tags import parse_tag_index as parse_tag_index
from penstock.port_tags import parse_tag_index_name as parse_tag_index_name
from penstock.port_tags import port_id as port_id
from penstock.port_tags import port_name as port_name
