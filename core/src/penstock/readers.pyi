# Written by scripts/stubs.py, of the table in the module.

from penstock.check.faults import Faults as Faults
from penstock.config.places import FieldPath as FieldPath
from penstock.config.graph_reader import GraphDefinition as GraphDefinition
from penstock.config.graph_reader import GraphReader as GraphReader
from penstock.config.graph_reader import GraphReaderError as GraphReaderError
from penstock.config.graph_reader import JsonReader as JsonReader
from penstock.config.message import Message as Message
from penstock.config.places import Places as Places
from penstock.config.places import ReadGraph as ReadGraph
from penstock.config.graph_reader import ReaderFindType as ReaderFindType
from penstock.config.graph_reader import ReaderLoad as ReaderLoad
from penstock.config.graph_reader import ReaderMerge as ReaderMerge
from penstock.config.places import Spot as Spot
from penstock.config.reading.scan import Token as Token
from penstock.config.graph_reader import definition_as_read_graph as definition_as_read_graph
from penstock.config.reading.scan import end_of_field as end_of_field
from penstock.config.subgraphs.expand import expand as expand
from penstock.config.places import field_path_words as field_path_words
from penstock.check.nodes import numbered_nodes as numbered_nodes
from penstock.config.reading.scan import own_name as own_name
from penstock.config.reading.parser_errors import parser_error_words as parser_error_words
from penstock.config.places import place_words as place_words
from penstock.config.subgraphs.expand import prefix_of as prefix_of
from penstock.config.reading.right_options import right_options as right_options
from penstock.config.reading.scan import snake_case as snake_case
from penstock.config.reading.scan import tokens_of as tokens_of
