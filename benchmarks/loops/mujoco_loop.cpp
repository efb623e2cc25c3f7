// MuJoCo's smooth dynamics over many states, on the MJCF file that benchmarks/descriptions.py writes.
#include "serve.hpp"

#include <mujoco/mujoco.h>

#include <algorithm>

int main(int, char** argv) {
  const loops::States s = loops::read_states(argv);
  char error[1000] = "";
  mjModel* model = mj_loadXML(argv[1], nullptr, error, sizeof error);
  if (!model) {
    std::cerr << error << std::endl;
    return 1;
  }
  mjData* data = mj_makeData(model);
  const long n = s.n;

  std::map<std::string, loops::Pass> passes;
  const auto add = [&](const char* name, auto step) { passes.try_emplace(name, s.count, n, step); };
  const auto set_state = [&](long k) {
    std::copy_n(s.q(k), n, data->qpos);
    std::copy_n(s.qd(k), n, data->qvel);
  };
  add("inverse_dynamics", [&](long k, double* out) {
    set_state(k);
    std::copy_n(s.qdd(k), n, data->qacc);
    mj_inverse(model, data);
    std::copy_n(data->qfrc_inverse, n, out);
  });
  add("forward_dynamics", [&](long k, double* out) {
    set_state(k);
    std::copy_n(s.tau(k), n, data->qfrc_applied);
    mj_forward(model, data);
    std::copy_n(data->qacc, n, out);
  });
  return loops::serve(passes);
}
