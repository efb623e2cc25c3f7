// MuJoCo's forward dynamics of closed loops over many states; usage as of pinocchio_mechanism_loop.cpp, model in MJCF.
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
  const long N = s.n;

  std::map<std::string, loops::Pass> passes;
  passes.try_emplace("forward_dynamics", s.count, N, [&](long k, double* out) {
    std::copy_n(s.q(k), N, data->qpos);
    std::copy_n(s.qd(k), N, data->qvel);
    std::copy_n(s.tau(k), N, data->qfrc_applied);
    mj_forward(model, data);
    std::copy_n(data->qacc, N, out);
  });
  return loops::serve(passes);
}
