// Serves Bench::Target for speed comparisons.
//
//   bench_server [-ORBoption value]... [--objects N] [--all]
//
// Prints the reference of the last of N objects (of each with --all) and, for `corbaloc`, serves one
// more under the plain key `bench`. Ends when standard input does.

#include "common.hh"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bench.hh"

namespace {

class Target : public POA_Bench::Target {
public:
  void ping() override {}
  CORBA::ULong echo(CORBA::ULong n) override { return n; }
  void MoveData(Bench::Words&) override {}
  void post(CORBA::ULong n) override { posted_ += n; }
  CORBA::ULong posted() override { return posted_; }

private:
  std::atomic<CORBA::ULong> posted_{0};
};

void print(const peer::Orb& orb, CORBA::Object_ptr object) {
  CORBA::String_var text = orb->object_to_string(object);
  puts(text);
}

void serve(const peer::Orb& orb, long objects, bool all) {
  for (long i = 1; i <= objects; ++i) {
    auto* target = new Target;
    PortableServer::ObjectId_var id = orb.root()->activate_object(target);
    if (all || i == objects) {
      Bench::Target_var reference = target->_this();
      print(orb, reference);
    }
    target->_remove_ref();
  }
  auto* plain = new Target;
  PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("bench");
  orb.plain_keys()->activate_object_with_id(id, plain);
  plain->_remove_ref();
  fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  peer::Orb orb(argc, argv);
  long objects = 1;
  bool all = false;
  const auto& rest = orb.rest();
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == "--all") {
      all = true;
    } else if (rest[i] == "--objects" && i + 1 < rest.size() && (objects = atol(rest[++i].c_str())) > 0) {
    } else {
      fprintf(stderr, "usage: bench_server [-ORBoption value]... [--objects N] [--all]\n");
      return 2;
    }
  }
  serve(orb, objects, all);
  peer::wait_for_end_of_input();
  return 0;
} catch (const CORBA::Exception& e) {
  fprintf(stderr, "bench_server: %s\n", peer::describe(e).c_str());
  return 1;
}
