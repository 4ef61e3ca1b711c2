// Errors of the run database: the text says what failed, why, and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace profiling {

/// Usage: the caller asked for something that cannot be (unknown run id, a file that is not ours).
/// Failure: disk full, locked, damaged.
enum class ErrorKind { Usage = 1, Failure = 2 };

/// `what()` reads "subject: why: fix".
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, std::string subject, std::string why, std::string fix);

    ErrorKind kind() const { return m_kind; }
    const std::string& subject() const { return m_subject; }
    const std::string& why() const { return m_why; }
    const std::string& fix() const { return m_fix; }

private:
    ErrorKind m_kind;
    std::string m_subject;
    std::string m_why;
    std::string m_fix;
};

}  // namespace profiling
