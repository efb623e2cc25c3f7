// Pinocchio's algorithms over many states, on the tree of segments that benchmarks/descriptions.py writes.
#include "pinocchio_reading.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#ifdef SECOND_DERIVATIVES  // a program of their own: with them, the compiler makes the first ones slower
#include <pinocchio/algorithm/rnea-second-order-derivatives.hpp>
#endif

pin::Inertia read_inertia(std::istream& in) {
  double mass;
  in >> mass;
  const auto com = read<Eigen::Vector3d>(in);
  return {mass, com, read<Eigen::Matrix3d>(in)};
}

// Lines: "gravity x y z", "segment parent R|P pose mass com inertia" in order, "tool segment pose"; -1 is the base.
pin::Model read_model(const char* path) {
  pin::Model model;
  std::ifstream in(path);
  std::string word, kind;
  int parent;
  while (in >> word) {
    if (word == "gravity") {
      model.gravity.linear(read<Eigen::Vector3d>(in));
    } else if (word == "segment" && in >> parent >> kind) {
      const pin::SE3 pose = read_pose(in);
      const std::string name = "joint" + std::to_string(model.njoints);
      const auto joint = kind == "R" ? model.addJoint(parent + 1, pin::JointModelRZ(), pose, name)
                                     : model.addJoint(parent + 1, pin::JointModelPZ(), pose, name);
      model.appendBodyToJoint(joint, read_inertia(in), pin::SE3::Identity());
    } else if (word == "tool" && in >> parent) {
      model.addFrame(pin::Frame("tool", parent + 1, 0, read_pose(in), pin::OP_FRAME));
    }
  }
  return model;
}

int main(int, char** argv) {
  const loops::States s = loops::read_states(argv);
  const pin::Model model = read_model(argv[1]);
  pin::Data data(model);
  const long n = s.n;
  const auto tool = model.getFrameId("tool");
  pin::Data::Matrix6x J = pin::Data::Matrix6x::Zero(6, n);

  std::map<std::string, loops::Pass> passes;
  const auto add = [&](const char* name, long width, auto step) { passes.try_emplace(name, s.count, width, step); };
  add("inverse_dynamics", n, [&](long k, double* out) {
    Output(out, n) = pin::rnea(model, data, Input(s.q(k), n), Input(s.qd(k), n), Input(s.qdd(k), n));
  });
  add("forward_dynamics", n, [&](long k, double* out) {
    Output(out, n) = pin::aba(model, data, Input(s.q(k), n), Input(s.qd(k), n), Input(s.tau(k), n));
  });
  add("mass_matrix", n * n, [&](long k, double* out) {
    Eigen::Map<Eigen::MatrixXd>(out, n, n) = pin::crba(model, data, Input(s.q(k), n));  // the upper triangle
  });
  add("gravity_torque", n, [&](long k, double* out) {
    Output(out, n) = pin::computeGeneralizedGravity(model, data, Input(s.q(k), n));
  });
  add("jacobian", 6 * n, [&](long k, double* out) {
    pin::computeFrameJacobian(model, data, Input(s.q(k), n), tool, pin::LOCAL_WORLD_ALIGNED, J);
    Eigen::Map<Eigen::Matrix<double, 6, Eigen::Dynamic>>(out, 6, n) = J;
  });
  using Rows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  add("coriolis_matrix", n * n, [&](long k, double* out) {
    Rows(out, n, n) = pin::computeCoriolisMatrix(model, data, Input(s.q(k), n), Input(s.qd(k), n));
  });
  add("regressor", 10 * n * n, [&](long k, double* out) {
    Rows(out, n, 10 * n) =
        pin::computeJointTorqueRegressor(model, data, Input(s.q(k), n), Input(s.qd(k), n), Input(s.qdd(k), n));
  });
  add("inverse_derivatives", 3 * n * n, [&](long k, double* out) {
    pin::computeRNEADerivatives(model, data, Input(s.q(k), n), Input(s.qd(k), n), Input(s.qdd(k), n));
    Rows(out, n, n) = data.dtau_dq;
    Rows(out + n * n, n, n) = data.dtau_dv;
    Rows(out + 2 * n * n, n, n) = data.M;  // the upper triangle
  });
  add("forward_derivatives", 3 * n * n, [&](long k, double* out) {
    pin::computeABADerivatives(model, data, Input(s.q(k), n), Input(s.qd(k), n), Input(s.tau(k), n));
    Rows(out, n, n) = data.ddq_dq;
    Rows(out + n * n, n, n) = data.ddq_dv;
    Rows(out + 2 * n * n, n, n) = data.Minv;  // the upper triangle
  });
#ifdef STATE_MATRICES  // as above: its second use of the derivatives changes how the compiler lays out the first
  add("state_matrices", 6 * n * n, [&](long k, double* out) {  // A and B of the linear model, whole
    pin::computeABADerivatives(model, data, Input(s.q(k), n), Input(s.qd(k), n), Input(s.tau(k), n));
    Rows A(out, 2 * n, 2 * n), B(out + 4 * n * n, 2 * n, n);
    A.topRows(n).setZero();
    A.topRightCorner(n, n).setIdentity();
    A.bottomLeftCorner(n, n) = data.ddq_dq;
    A.bottomRightCorner(n, n) = data.ddq_dv;
    B.topRows(n).setZero();
    B.bottomRows(n) = data.Minv.selfadjointView<Eigen::Upper>();
  });
#endif
#ifdef SECOND_DERIVATIVES
  add("second_derivatives", 4 * n * n * n, [&](long k, double* out) {
    pin::ComputeRNEASecondOrderDerivatives(model, data, Input(s.q(k), n), Input(s.qd(k), n), Input(s.qdd(k), n));
    const double* tensors[] = {data.d2tau_dqdq.data(), data.d2tau_dqdv.data(), data.d2tau_dvdv.data(), data.d2tau_dadq.data()};
    for (int i = 0; i < 4; ++i) std::copy(tensors[i], tensors[i] + n * n * n, out + i * n * n * n);
  });
#endif
  return loops::serve(passes);
}
