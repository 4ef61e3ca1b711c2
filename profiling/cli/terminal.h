// The few things that differ between a terminal and a file or pipe.
#pragma once

namespace cli {

bool stdoutIsTerminal();
/// Columns of the terminal on stdout; 100 when it is none.
int terminalColumns();

}  // namespace cli
