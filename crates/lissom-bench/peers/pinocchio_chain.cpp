// V4 in Pinocchio: the articulated-body algorithm on serial chains of revolute joints, axes z, y, z, y, ...; prints the
// number of joints and the shortest seconds per call over many batches.

#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

int main() {
  using namespace pinocchio;
  for (int joints : {7, 20, 100}) {
    Model model;
    JointIndex parent = 0;
    for (int i = 0; i < joints; ++i) {
      const SE3 placement(Eigen::Matrix3d::Identity(), Eigen::Vector3d(i ? 0.5 : 0.0, 0, 0));
      const std::string name = "joint_" + std::to_string(i);
      parent = i % 2 ? model.addJoint(parent, JointModelRY(), placement, name)
                     : model.addJoint(parent, JointModelRZ(), placement, name);
      const Eigen::Vector3d centre(0.25, 0.01, 0.02);
      // about the centre of mass
      const Eigen::Matrix3d inertia = Eigen::Vector3d(0.002, 0.02, 0.02).asDiagonal();
      model.appendBodyToJoint(parent, Inertia(1.0, centre, inertia), SE3::Identity());
    }
    Data data(model);
    Eigen::VectorXd q(joints), v(joints), tau = Eigen::VectorXd::Zero(joints);
    for (int i = 0; i < joints; ++i) {
      q[i] = 0.3 - 0.1 * (i % 7);
      v[i] = 0.2 + 0.1 * (i % 5);
    }
    const int calls = 200000 / joints;
    double best = 1e9, sum = 0;
    for (int batch = 0; batch < 60; ++batch) {
      const auto start = std::chrono::steady_clock::now();
      for (int call = 0; call < calls; ++call) sum += aba(model, data, q, v, tau, Convention::LOCAL)[0];
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      best = std::min(best, taken.count() / calls);
    }
    std::fprintf(stderr, "%g\n", sum);
    std::printf("%d %.9e\n", joints, best);
  }
}
