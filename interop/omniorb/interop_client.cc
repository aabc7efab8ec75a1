// Checks another ORB's Interop::Suite.
//
//   interop_client [-ORBoption value]... [--only PREFIX]... [--except PREFIX]... [--latin-peer]
//                  [--deadline SECONDS] [--priority N] REFERENCE
//   interop_client --list
//
// One line per check: `ok NAME`, `FAIL NAME: why` or `skip NAME: why`; then a line with the three
// counts. Ends with 0 when none failed, 1 when one did or the deadline (120 s) passed, 2 when the
// suite could not be reached. REFERENCE may be an IOR, a corbaloc or a corbaname. With a priority,
// every request has a service context with it, as real-time CORBA's.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <omniORB4/omniInterceptors.h>

#include "check.hh"

namespace peer {
namespace {

struct Request {
  std::vector<std::string> only, except;
  std::string reference;
  bool list = false, latin_peer = false;
  unsigned deadline = 120;
  int priority = -1;
};

struct Usage {};

Request parse(const std::vector<std::string>& words) {
  Request r;
  for (size_t i = 0; i < words.size(); ++i) {
    auto value = [&] {
      if (++i == words.size()) throw Usage();
      return words[i];
    };
    if (words[i] == "--only") r.only.push_back(value());
    else if (words[i] == "--except") r.except.push_back(value());
    else if (words[i] == "--deadline") r.deadline = atoi(value().c_str());
    else if (words[i] == "--priority") r.priority = atoi(value().c_str());
    else if (words[i] == "--latin-peer") r.latin_peer = true;
    else if (words[i] == "--list") r.list = true;
    else if (r.reference.empty() && words[i][0] != '-') r.reference = words[i];
    else throw Usage();
  }
  if (r.reference.empty() && !r.list) throw Usage();
  return r;
}

int priority_of_requests;

// An encapsulated short, in the other byte order than requests have on most machines.
CORBA::Boolean add_priority(omni::omniInterceptors::clientSendRequest_T::info_T& info) {
  const CORBA::ULong rt_corba_priority = 10;
  CORBA::ULong at = info.service_contexts.length();
  info.service_contexts.length(at + 1);
  info.service_contexts[at].context_id = rt_corba_priority;
  auto& data = info.service_contexts[at].context_data;
  data.length(4);
  data[0] = data[1] = 0;
  data[2] = CORBA::Octet(priority_of_requests >> 8);
  data[3] = CORBA::Octet(priority_of_requests);
  return true;
}

bool any_begins(const std::vector<std::string>& prefixes, const std::string& name) {
  for (const std::string& p : prefixes)
    if (name.compare(0, p.size(), p) == 0) return true;
  return false;
}

// The minor version in the reference's profile, unless the command line asks for a lesser one.
int giop_minor(CORBA::Object_ptr object) {
  omniIOR_var ior = object->_PR_getobj()->_getIOR();
  int theirs = ior->getIORInfo()->version().minor;
  int ours = orb_option("maxGIOPVersion", "1.2").back() - '0';
  return theirs < ours ? theirs : ours;
}

// Why a check cannot be made here, or nothing.
const char* lack(const Context& c, Need need) {
  if (need == Need::nothing) return nullptr;
  if (need == Need::giop12) return c.giop < 2 ? "omniORB has wide characters in GIOP 1.2 only" : nullptr;
  if (c.giop < 1) return "GIOP 1.0 negotiates no code sets";
  if (need == Need::unicode && !native_utf8()) return "this side's strings are ISO 8859-1";
  if (need == Need::unicode && c.latin_peer) return "the peer's strings are ISO 8859-1";
  if (need == Need::latin_native && native_utf8()) return "this side's strings are UTF-8";
  return nullptr;
}

// Empty when the check passed.
std::string run(const Check& check, Context& c) {
  try {
    check.run(c);
    return "";
  } catch (const CORBA::Exception& e) {
    return describe(e);
  } catch (const std::exception& e) {
    return e.what();
  }
}

char running[128] = "reaching the suite";

void too_late(int) {
  const char* pieces[] = {"FAIL ", running, ": no answer before the deadline\n"};
  for (const char* piece : pieces)
    if (write(STDOUT_FILENO, piece, strlen(piece)) < 0) break;
  _exit(1);
}

int run_all(const Request& r, Context& c) {
  int ok = 0, failed = 0, skipped = 0;
  for (const Check& check : checks()) {
    if ((!r.only.empty() && !any_begins(r.only, check.name)) || any_begins(r.except, check.name)) continue;
    if (const char* why = lack(c, check.need)) {
      ++skipped;
      printf("skip %s: %s\n", check.name.c_str(), why);
      continue;
    }
    snprintf(running, sizeof running, "%s", check.name.c_str());
    std::string why = run(check, c);
    if (why.empty()) {
      ++ok;
      printf("ok %s\n", check.name.c_str());
    } else {
      ++failed;
      printf("FAIL %s: %s\n", check.name.c_str(), why.c_str());
    }
    fflush(stdout);
  }
  printf("%d ok, %d failed, %d skipped\n", ok, failed, skipped);
  if (ok + failed + skipped == 0) fprintf(stderr, "interop_client: no check has such a name\n");
  return failed > 0 || ok == 0;
}

int run_client(int argc, char** argv) {
  Orb orb(argc, argv, generous());
  never_retry();
  Request r = parse(orb.rest());
  if (r.list) {
    for (const Check& check : checks()) puts(check.name.c_str());
    return 0;
  }
  if (r.priority >= 0) {
    priority_of_requests = r.priority;
    omniORB::getInterceptors()->clientSendRequest.add(add_priority);
  }
  signal(SIGALRM, too_late);
  alarm(r.deadline);

  CORBA::Object_var object = orb->string_to_object(r.reference.c_str());
  Interop::Suite_var suite = Interop::Suite::_narrow(object);
  if (CORBA::is_nil(suite)) {
    fprintf(stderr, "interop_client: not an Interop::Suite\n");
    return 2;
  }
  Context context{orb, suite, giop_minor(suite), r.latin_peer};
  return run_all(r, context);
}

}  // namespace
}  // namespace peer

int main(int argc, char** argv) try {
  return peer::run_client(argc, argv);
} catch (const CORBA::Exception& e) {
  fprintf(stderr, "interop_client: %s\n", peer::describe(e).c_str());
  return 2;
} catch (const peer::Usage&) {
  fprintf(stderr,
          "usage: interop_client [-ORBoption value]... [--only PREFIX]... [--except PREFIX]... [--latin-peer]\n"
          "                      [--deadline SECONDS] [--priority N] REFERENCE | --list\n");
  return 2;
}
