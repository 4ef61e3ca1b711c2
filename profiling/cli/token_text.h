// Tokens as people read them: bytes for text models, comma-separated ids for the others.
#pragma once

#include <string>
#include <vector>

namespace cli {

/// Control bytes and broken UTF-8 become \xNN (newline and tab stay), so that a model cannot drive the terminal.
std::string printable(const std::string& bytes);

/// The same with newline and tab as \n and \t: for names and notes inside a line or a table.
std::string oneLine(const std::string& text);

bool isTextData(const std::string& data);  ///< "text:…"

std::vector<int> bytesToTokens(const std::string& text);
std::string tokensToBytes(const std::vector<int>& tokens);
std::string tokensToIds(const std::vector<int>& tokens);  ///< "0,3,6"

}  // namespace cli
