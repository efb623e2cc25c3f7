// Inverse kinematics with Pinocchio: Levenberg-Marquardt with restarts within joint limits, pose by pose.
//
// Of the blocks of states, q gives the poses, qd the first starts, qdd (its first two rows) lower and upper limits.
// "search" is the textbook: steps are clamped to the limits, an attempt has 30 turns. "same_rules" has the rules of
// dalembert's own search: joints that push against a limit take no part, hopeless attempts are given up early.
#include "pinocchio_reading.hpp"

#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/spatial.hpp>

#include <Eigen/Cholesky>
#include <random>

using Vector = Eigen::VectorXd;

constexpr double kTolerance = 1e-5;
constexpr int kAttempts = 100;

// As benchmarks/descriptions.py writes it; masses do not matter here.
pin::Model read_model(const char* path) {
  pin::Model model;
  std::ifstream in(path);
  std::string word, kind;
  int parent;
  while (in >> word) {
    if (word == "gravity") {
      read<Eigen::Vector3d>(in);
    } else if (word == "segment" && in >> parent >> kind) {
      const pin::SE3 pose = read_pose(in);
      const std::string name = "joint" + std::to_string(model.njoints);
      kind == "R" ? model.addJoint(parent + 1, pin::JointModelRZ(), pose, name)
                  : model.addJoint(parent + 1, pin::JointModelPZ(), pose, name);
      double mass;
      in >> mass;
      read<Eigen::Vector3d>(in), read<Eigen::Matrix3d>(in);
    } else if (word == "tool" && in >> parent) {
      model.addFrame(pin::Frame("tool", parent + 1, 0, read_pose(in), pin::OP_FRAME));
    }
  }
  return model;
}

struct Rules {
  double damping, length;
  int turns;
  bool active_set;
  bool hopeless(int turn, double cost) const {
    const double share = cost / (length * length);
    return active_set && ((turn >= 5 && share > 1.0) || (turn >= 7 && share > 0.2) || (turn >= 9 && share > 0.02));
  }
};

template <int N>
class Search {
 public:
  using Joints = Eigen::Matrix<double, N, 1>;
  Search(const pin::Model& model, const double* lower, const double* upper, Rules rules)
      : model_(model), data_(model), tool_(model.getFrameId("tool")), lower_(lower), upper_(upper), rules_(rules) {}

  bool run(const pin::SE3& wanted, const double* start, unsigned number, double* out) {
    std::mt19937 random(number);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    Joints q = Eigen::Map<const Joints>(start);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (attempt > 0)
        for (int i = 0; i < N; ++i) q[i] = lower_[i] + (upper_[i] - lower_[i]) * uniform(random);
      if (attempted(wanted, q)) {
        Eigen::Map<Joints> result(out);
        result = q;
        return true;
      }
    }
    return false;
  }

 private:
  bool attempted(const pin::SE3& wanted, Joints& q) {
    for (int turn = 1; turn <= rules_.turns; ++turn) {
      pin::computeJointJacobians(model_, data_, q);
      pin::updateFramePlacement(model_, data_, tool_);
      const pin::SE3& X = data_.oMf[tool_];
      Eigen::Matrix<double, 6, 1> e;
      e.head<3>() = wanted.translation() - X.translation();
      e.tail<3>() = pin::log3(wanted.rotation() * X.rotation().transpose());
      if (e.head<3>().norm() < kTolerance && e.tail<3>().norm() < kTolerance) return true;
      e.tail<3>() *= rules_.length;
      const double cost = e.squaredNorm();
      if (rules_.hopeless(turn, cost)) return false;
      J_.setZero();
      pin::getFrameJacobian(model_, data_, tool_, pin::LOCAL_WORLD_ALIGNED, J_);
      J_.template bottomRows<3>() *= rules_.length;
      step(e, cost, q);
    }
    return false;
  }

  void step(const Eigen::Matrix<double, 6, 1>& e, double cost, Joints& q) {
    if (rules_.active_set) {
      const Joints pull = J_.transpose() * e;
      for (int i = 0; i < N; ++i)
        if ((q[i] >= upper_[i] && pull[i] > 0) || (q[i] <= lower_[i] && pull[i] < 0)) J_.col(i).setZero();
    }
    Eigen::Matrix<double, 6, 6> A;
    A.noalias() = J_ * J_.transpose();
    A.diagonal().array() += rules_.damping * cost + 1e-14;
    q.noalias() += J_.transpose() * A.llt().solve(e);
    q = q.cwiseMax(Eigen::Map<const Joints>(lower_)).cwiseMin(Eigen::Map<const Joints>(upper_));
  }

  const pin::Model& model_;
  pin::Data data_;
  pin::FrameIndex tool_;
  const double *lower_, *upper_;
  Rules rules_;
  Eigen::Matrix<double, 6, N> J_;
};

template <int N>
int measured(const loops::States& s, const pin::Model& model, double length) {
  pin::Data data(model);
  const auto tool = model.getFrameId("tool");
  std::vector<pin::SE3> wanted;
  for (long k = 0; k < s.count; ++k) {
    pin::framesForwardKinematics(model, data, Input(s.q(k), N));
    wanted.push_back(data.oMf[tool]);
  }
  Search<N> textbook(model, s.qdd(0), s.qdd(1), {0.05, length, 30, false});
  Search<N> same_rules(model, s.qdd(0), s.qdd(1), {0.05, length, 15, true});
  std::map<std::string, loops::Pass> passes;
  const auto add = [&](const char* name, Search<N>& search) {
    passes.try_emplace(name, s.count, N + 1, [&](long k, double* out) { out[N] = search.run(wanted[k], s.qd(k), k + 1, out); });
  };
  add("search", textbook);
  add("same_rules", same_rules);
  return loops::serve(passes);
}

int main(int, char** argv) {
  const loops::States s = loops::read_states(argv);
  const pin::Model model = read_model(argv[1]);
  const double length = s.tau(0)[0];  // how many metres count as a radian
  return s.n == 7 ? measured<7>(s, model, length) : measured<6>(s, model, length);
}
