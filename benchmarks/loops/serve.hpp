// What the loops of other libraries share: read states, run one pass over all of them when asked, say how long it took.
//
// Usage: program model states.bin count n. The states are four blocks of count x n doubles: q, qd, qdd, tau.
// Each line on standard input is "time NAME" (answer: seconds of one pass) or "answer NAME FILE" (writes the results, raw).
#pragma once

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace loops {

struct States {
  long count, n;
  std::vector<double> values;
  const double* q(long k) const { return values.data() + k * n; }
  const double* qd(long k) const { return q(count + k); }
  const double* qdd(long k) const { return q(2 * count + k); }
  const double* tau(long k) const { return q(3 * count + k); }
};

inline States read_states(char** argv) {
  States states{std::atol(argv[3]), std::atol(argv[4]), {}};
  states.values.resize(4 * states.count * states.n);
  std::ifstream file(argv[2], std::ios::binary);
  file.read(reinterpret_cast<char*>(states.values.data()), states.values.size() * sizeof(double));
  if (!file) throw std::runtime_error("states: the file is too short.");
  return states;
}

// A pass over all states, with room for what it computes: `width` numbers per state.
class Pass {
 public:
  template <class Step>
  Pass(long count, long width, Step step) {
    run_ = [this, count, width, step]() mutable {
      results_.resize(count * width);  // on the first run only, so that passes nobody asks for take no memory
      for (long k = 0; k < count; ++k) step(k, results_.data() + k * width);
    };
  }
  Pass(const Pass&) = delete;

  double seconds() {
    const auto start = std::chrono::steady_clock::now();
    run_();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void write(const std::string& path) {
    run_();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(results_.data()), results_.size() * sizeof(double));
  }

 private:
  std::vector<double> results_;
  std::function<void()> run_;
};

inline int serve(std::map<std::string, Pass>& passes) {
  std::string verb, name, path;
  while (std::cin >> verb >> name) {
    Pass& pass = passes.at(name);
    if (verb == "time") {
      std::cout << std::scientific << pass.seconds() << std::endl;
    } else if (std::cin >> path) {
      pass.write(path);
      std::cout << "written" << std::endl;
    }
  }
  return 0;
}

}  // namespace loops
