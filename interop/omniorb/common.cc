#include "common.hh"

#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace peer {

namespace {

std::vector<std::string> all_arguments;

bool given(const std::string& option) {
  for (const std::string& a : all_arguments)
    if (a == "-ORB" + option) return true;
  return false;
}

}  // namespace

Orb::Orb(int argc, char** argv, Options defaults) {
  all_arguments.assign(argv, argv + argc);
  defaults.emplace_back("endPoint", "giop:tcp:127.0.0.1:");

  std::vector<const char*> pairs;
  for (const auto& [option, value] : defaults)
    if (!given(option)) pairs.insert(pairs.end(), {option.c_str(), value.c_str()});
  pairs.insert(pairs.end(), {nullptr, nullptr});

  orb_ = CORBA::ORB_init(argc, argv, "omniORB4", reinterpret_cast<const char*(*)[2]>(pairs.data()));
  rest_.assign(argv + 1, argv + argc);

  CORBA::Object_var found = orb_->resolve_initial_references("RootPOA");
  root_ = PortableServer::POA::_narrow(found);
  PortableServer::POAManager_var manager = root_->the_POAManager();
  manager->activate();
}

Orb::~Orb() {
  try {
    orb_->destroy();
  } catch (const CORBA::Exception&) {
    // The process ends anyway.
  }
}

PortableServer::POA_var Orb::plain_keys() const {
  CORBA::Object_var found = orb_->resolve_initial_references("omniINSPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(found);
  PortableServer::POAManager_var manager = poa->the_POAManager();
  manager->activate();
  return poa;
}

Options generous() { return {{"giopMaxMsgSize", "67108864"}, {"maxGIOPConnectionPerServer", "32"}}; }

std::string orb_option(const std::string& name, const std::string& otherwise) {
  for (size_t i = 0; i + 1 < all_arguments.size(); ++i)
    if (all_arguments[i] == "-ORB" + name) return all_arguments[i + 1];
  return otherwise;
}

bool native_utf8() { return orb_option("nativeCharCodeSet", "ISO-8859-1") == "UTF-8"; }

std::string to_native(const std::vector<unsigned>& points) {
  std::string text;
  for (unsigned p : points) {
    if (!native_utf8()) {
      if (p > 0xff) throw CORBA::DATA_CONVERSION(0, CORBA::COMPLETED_NO);
      text += char(p);
    } else if (p < 0x80) {
      text += char(p);
    } else if (p < 0x800) {
      text += {char(0xc0 | p >> 6), char(0x80 | (p & 0x3f))};
    } else if (p < 0x10000) {
      text += {char(0xe0 | p >> 12), char(0x80 | (p >> 6 & 0x3f)), char(0x80 | (p & 0x3f))};
    } else {
      text += {char(0xf0 | p >> 18), char(0x80 | (p >> 12 & 0x3f)), char(0x80 | (p >> 6 & 0x3f)),
               char(0x80 | (p & 0x3f))};
    }
  }
  return text;
}

std::vector<unsigned> from_native(const std::string& text) {
  std::vector<unsigned> points;
  for (size_t i = 0; i < text.size();) {
    unsigned lead = static_cast<unsigned char>(text[i++]);
    int more = !native_utf8() || lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    unsigned point = more == 0 ? lead : lead & (0x3f >> more);
    for (; more > 0 && i < text.size(); --more) point = point << 6 | (text[i++] & 0x3f);
    points.push_back(point);
  }
  return points;
}

std::vector<CORBA::WChar> to_wide(const std::vector<unsigned>& points) {
  std::vector<CORBA::WChar> units;
  for (unsigned p : points) {
    if (p < 0x10000) {
      units.push_back(p);
    } else {
      units.push_back(0xd800 + ((p - 0x10000) >> 10));
      units.push_back(0xdc00 + ((p - 0x10000) & 0x3ff));
    }
  }
  return units;
}

std::string describe(const CORBA::Exception& e) {
  const auto* system = CORBA::SystemException::_downcast(&e);
  if (!system) return std::string("user exception ") + e._rep_id();
  static const char* const completed[] = {"YES", "NO", "MAYBE"};
  char text[200];
  const char* meaning = system->NP_minorString();
  snprintf(text, sizeof text, "%s minor 0x%x%s%s completed %s", e._name(), unsigned(system->minor()),
           meaning ? " " : "", meaning ? meaning : "", completed[system->completed()]);
  return text;
}

void wait_for_end_of_input() {
  char buffer[256];
  while (read(STDIN_FILENO, buffer, sizeof buffer) > 0) {
  }
}

void never_retry() {
  omniORB::installTransientExceptionHandler(
      nullptr, [](void*, CORBA::ULong, const CORBA::TRANSIENT&) -> CORBA::Boolean { return 0; });
  omniORB::installCommFailureExceptionHandler(
      nullptr, [](void*, CORBA::ULong, const CORBA::COMM_FAILURE&) -> CORBA::Boolean { return 0; });
}

}  // namespace peer
