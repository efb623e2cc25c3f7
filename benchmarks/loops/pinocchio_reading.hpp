// Numbers, poses and vectors as all programs with Pinocchio read and write them.
#pragma once

#include "serve.hpp"

#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;

using Input = Eigen::Map<const Eigen::VectorXd>;
using Output = Eigen::Map<Eigen::VectorXd>;

template <class Matrix>
Matrix read(std::istream& in) {
  Matrix matrix;
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.cols(); ++j) in >> matrix(i, j);
  return matrix;
}

inline pin::SE3 read_pose(std::istream& in) {
  const auto R = read<Eigen::Matrix3d>(in);
  return {R, read<Eigen::Vector3d>(in)};
}
