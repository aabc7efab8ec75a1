// Serves Interop::Suite.
//
//   interop_server [-ORBoption value]...
//
// Prints the suite's reference on one line; it is also served under the plain key `suite` for
// `corbaloc`. Ends when standard input does.

#include <cstdio>

#include "common.hh"
#include "suite.hh"

int main(int argc, char** argv) try {
  peer::Orb orb(argc, argv, peer::generous());
  peer::never_retry();
  if (!orb.rest().empty()) {
    fprintf(stderr, "usage: interop_server [-ORBoption value]...\n");
    return 2;
  }

  peer::Objects objects(orb);
  auto* suite = new peer::Suite(objects);
  PortableServer::POA_var poa = orb.plain_keys();
  PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("suite");
  poa->activate_object_with_id(id, suite);
  suite->_remove_ref();

  CORBA::Object_var reference = poa->id_to_reference(id);
  CORBA::String_var text = orb->object_to_string(reference);
  puts(text);
  fflush(stdout);
  peer::wait_for_end_of_input();
  return 0;
} catch (const CORBA::Exception& e) {
  fprintf(stderr, "interop_server: %s\n", peer::describe(e).c_str());
  return 1;
}
