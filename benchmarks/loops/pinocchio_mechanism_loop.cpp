// Closed loops with Pinocchio over many states, on the tree and closures that benchmarks/mechanism_descriptions.py writes.
//
// Forward dynamics are the library's own constraintDynamics with 3D closures. Inverse dynamics of a closed loop it has not: the
// recipe here is what an engineer writes with it, the Jacobian of the closures, Eigen's LU, the bias, rnea and the transpose.
//
// Usage: program model states.bin count N start.bin. The states are x, xd, xdd and tau of all N joints of the tree, of which xdd
// and tau are read at the driven joints; start.bin holds positions from which the loops are closed.
#include "pinocchio_reading.hpp"

#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>

// Two points that are one: a frame at each, and how many of the world's axes hold them (two in a plane, else three).
struct Closure {
  pin::FrameIndex a, b;
  int rows;
};

struct Mechanism {
  pin::Model model;
  std::vector<Closure> closures;
  std::vector<pin::RigidConstraintModel> constraints;
  std::vector<int> driven, others;
  double mu = 0.0;
  int turns = 1;
  int rows = 0;
};

pin::FrameIndex read_point(std::istream& in, pin::Model& model) {
  int segment;
  in >> segment;
  const pin::SE3 pose(Eigen::Matrix3d::Identity(), read<Eigen::Vector3d>(in));
  return model.addFrame(pin::Frame("point" + std::to_string(model.nframes), segment + 1, 0, pose, pin::OP_FRAME), false);
}

// Lines as in pinocchio_loop.cpp, then "closure rows segment point segment point", "driven count joints", "proximal mu turns".
Mechanism read_mechanism(const char* path) {
  Mechanism m;
  std::ifstream in(path);
  std::string word, kind;
  int parent;
  while (in >> word) {
    if (word == "gravity") {
      m.model.gravity.linear(read<Eigen::Vector3d>(in));
    } else if (word == "segment" && in >> parent >> kind) {
      const pin::SE3 pose = read_pose(in);
      const std::string name = "joint" + std::to_string(m.model.njoints);
      const auto joint = kind == "R" ? m.model.addJoint(parent + 1, pin::JointModelRZ(), pose, name)
                                     : m.model.addJoint(parent + 1, pin::JointModelPZ(), pose, name);
      double mass;
      in >> mass;
      const auto com = read<Eigen::Vector3d>(in);
      m.model.appendBodyToJoint(joint, pin::Inertia(mass, com, read<Eigen::Matrix3d>(in)), pin::SE3::Identity());
    } else if (word == "closure") {
      Closure closure;
      in >> closure.rows;
      closure.a = read_point(in, m.model);
      closure.b = read_point(in, m.model);
      m.closures.push_back(closure);
      m.rows += closure.rows;
    } else if (word == "driven") {
      int count, joint;
      in >> count;
      while (count-- > 0 && in >> joint) m.driven.push_back(joint);
    } else if (word == "proximal") {
      in >> m.mu >> m.turns;
    }
  }
  for (int j = 0; j < m.model.nv; ++j)
    if (std::find(m.driven.begin(), m.driven.end(), j) == m.driven.end()) m.others.push_back(j);
  for (const Closure& c : m.closures) {
    const pin::Frame &a = m.model.frames[c.a], &b = m.model.frames[c.b];
    m.constraints.emplace_back(pin::CONTACT_3D, m.model, a.parentJoint, a.placement, b.parentJoint, b.placement,
                               pin::LOCAL_WORLD_ALIGNED);
  }
  return m;
}

// Inverse dynamics in the driven joints: with the closures' Jacobian J = [Jd Jo] of driven and other joints, vo = -Jo^-1 Jd vd.
class Recipe {
 public:
  Recipe(const Mechanism& m, pin::Data& data)
      : m_(m), data_(data), J6_(6, m.model.nv), J_(m.rows, m.model.nv), Jo_(m.rows, m.others.size()), Jd_(m.rows, m.driven.size()),
        x_(m.model.nv), v_(m.model.nv), a_(m.model.nv), zero_(Eigen::VectorXd::Zero(m.model.nv)), right_(m.rows),
        lu_(m.rows) {}

  void inverse(const Eigen::VectorXd& x, const double* xd, const double* xdd, double* out) {
    pin::computeJointJacobians(m_.model, data_, x);
    pin::updateFramePlacements(m_.model, data_);
    factorise();
    scatter(v_, xd, Eigen::VectorXd::Zero(m_.rows));
    pin::forwardKinematics(m_.model, data_, x, v_, zero_);
    int row = 0;
    for (const Closure& c : m_.closures) {
      const Eigen::Vector3d bias =
          pin::getFrameClassicalAcceleration(m_.model, data_, c.b, pin::LOCAL_WORLD_ALIGNED).linear() -
          pin::getFrameClassicalAcceleration(m_.model, data_, c.a, pin::LOCAL_WORLD_ALIGNED).linear();
      right_.segment(row, c.rows) = -bias.head(c.rows);
      row += c.rows;
    }
    scatter(a_, xdd, right_);
    const Eigen::VectorXd& tau = pin::rnea(m_.model, data_, x, v_, a_);
    for (std::size_t k = 0; k < m_.others.size(); ++k) right_[k] = tau[m_.others[k]];
    const Eigen::VectorXd multipliers = lu_.transpose().solve(right_);
    for (std::size_t k = 0; k < m_.driven.size(); ++k) out[k] = tau[m_.driven[k]] - Jd_.col(k).dot(multipliers);
  }

  // Newton's method in the other joints; the same last step as ours.
  const Eigen::VectorXd& closed(const double* x, const double* start) {
    for (int j : m_.others) x_[j] = start[j];
    for (int j : m_.driven) x_[j] = x[j];
    for (int turn = 0; turn < 40; ++turn) {
      pin::computeJointJacobians(m_.model, data_, x_);
      pin::updateFramePlacements(m_.model, data_);
      factorise();
      int row = 0;
      for (const Closure& c : m_.closures) {
        const Eigen::Vector3d gap = data_.oMf[c.b].translation() - data_.oMf[c.a].translation();
        right_.segment(row, c.rows) = gap.head(c.rows);
        row += c.rows;
      }
      const Eigen::VectorXd step = lu_.solve(right_);
      for (std::size_t k = 0; k < m_.others.size(); ++k) x_[m_.others[k]] -= step[k];
      if (step.lpNorm<Eigen::Infinity>() < 1e-8) break;
    }
    return x_;
  }

 private:
  void factorise() {
    int row = 0;
    for (const Closure& c : m_.closures) {
      J6_.setZero();
      pin::getFrameJacobian(m_.model, data_, c.b, pin::LOCAL_WORLD_ALIGNED, J6_);
      J_.middleRows(row, c.rows) = J6_.topRows(c.rows);
      J6_.setZero();
      pin::getFrameJacobian(m_.model, data_, c.a, pin::LOCAL_WORLD_ALIGNED, J6_);
      J_.middleRows(row, c.rows) -= J6_.topRows(c.rows);
      row += c.rows;
    }
    for (std::size_t k = 0; k < m_.others.size(); ++k) Jo_.col(k) = J_.col(m_.others[k]);
    for (std::size_t k = 0; k < m_.driven.size(); ++k) Jd_.col(k) = J_.col(m_.driven[k]);
    lu_.compute(Jo_);
  }

  template <class Right>
  void scatter(Eigen::VectorXd& all, const double* given, const Right& right) {
    Eigen::VectorXd left = right;
    for (std::size_t k = 0; k < m_.driven.size(); ++k) {
      all[m_.driven[k]] = given[m_.driven[k]];
      left -= Jd_.col(k) * given[m_.driven[k]];
    }
    const Eigen::VectorXd found = lu_.solve(left);
    for (std::size_t k = 0; k < m_.others.size(); ++k) all[m_.others[k]] = found[k];
  }

  const Mechanism& m_;
  pin::Data& data_;
  pin::Data::Matrix6x J6_;
  Eigen::MatrixXd J_, Jo_, Jd_;
  Eigen::VectorXd x_, v_, a_, zero_, right_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
};

int main(int, char** argv) {
  const loops::States s = loops::read_states(argv);
  const Mechanism m = read_mechanism(argv[1]);
  const long N = s.n, n = m.driven.size();
  std::vector<double> start(s.count * N);
  std::ifstream(argv[5], std::ios::binary).read(reinterpret_cast<char*>(start.data()), start.size() * sizeof(double));
  pin::Data data(m.model);
  std::vector<pin::RigidConstraintData> constraint_data;
  for (const auto& constraint : m.constraints) constraint_data.emplace_back(constraint);
  pin::initConstraintDynamics(m.model, data, m.constraints, constraint_data);
  pin::ProximalSettings settings(1e-14, m.mu, m.turns);
  Recipe recipe(m, data);
  Eigen::VectorXd x(N);

  std::map<std::string, loops::Pass> passes;
  const auto add = [&](const char* name, long width, auto step) { passes.try_emplace(name, s.count, width, step); };
  add("inverse_dynamics", n, [&](long k, double* out) {
    x = Input(s.q(k), N);
    recipe.inverse(x, s.qd(k), s.qdd(k), out);
  });
  add("closed_inverse_dynamics", n, [&](long k, double* out) {
    recipe.inverse(recipe.closed(s.q(k), start.data() + k * N), s.qd(k), s.qdd(k), out);
  });
  add("forward_dynamics", n, [&](long k, double* out) {
    const Eigen::VectorXd& a = pin::constraintDynamics(m.model, data, Input(s.q(k), N), Input(s.qd(k), N), Input(s.tau(k), N),
                                                       m.constraints, constraint_data, settings);
    for (long i = 0; i < n; ++i) out[i] = a[m.driven[i]];
  });
  return loops::serve(passes);
}
