# Written by scripts/stubs.py, of the table in the module.

from penstock.plugins.discovery import Discovered as Discovered
from penstock.registry_entries import KINDS as KINDS
from penstock.plugins.discovery import PluginHost as PluginHost
from penstock.registry_entries import calculator_of_entry as calculator_of_entry
from penstock.registry_entries import check_entry_name as check_entry_name
from penstock.frozen_children import child_command as child_command
from penstock.plugins.default_registry import default_plugin_host as default_plugin_host
from penstock.plugins.default_registry import default_registry as default_registry
from penstock.engine_form import engine_form as engine_form
from penstock.entry_points import entry_points as entry_points
from penstock.registry_entries import entry_spelling as entry_spelling
from penstock.frozen_children import freeze_support as freeze_support
from penstock.frozen_children import frozen_program_folders as frozen_program_folders
from penstock.frozen_children import is_frozen as is_frozen
from penstock.late_names import late_names as late_names
from penstock.registry import official_packs as official_packs
from penstock.freezing.pack_contents import pack_files as pack_files
from penstock.plugins.default_registry import plugins_renewed as plugins_renewed
