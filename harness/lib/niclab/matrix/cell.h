// SPDX-License-Identifier: GPL-2.0-or-later
// A cell of the matrix: a suite and the machine it runs on, and how it is built and started.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "niclab/result.h"

namespace niclab::matrix {

enum class Axis { suite, kernel, driver, card, iommu, mode };
inline constexpr size_t kAxes = 6;

std::string_view name(Axis axis);
std::optional<Axis> axis_named(std::string_view name);
/// What may stand on an axis.
std::vector<std::string> values_of(Axis axis);

struct Cell {
    std::array<std::string, kAxes> values; ///< empty: the suite does not depend on that axis

    const std::string &at(Axis axis) const { return values[static_cast<size_t>(axis)]; }
    std::string &at(Axis axis) { return values[static_cast<size_t>(axis)]; }
    /// "scenarios/6.1/mlx5_core/connectx/intel/lazy": the values there are, in the order of Axis.
    std::string name() const;
    bool operator==(const Cell &) const = default;
};

/// The cell without the values that make no difference to its suite.
Cell reduced(Cell cell);

/// Why nothing can run such a cell; empty when something can.
std::string impossible(const Cell &cell);

/// The cell of that name, or a sentence why no cell has it.
Result<Cell> cell_named(const std::string &name);

/// How programs of a suite say what came out.
enum class Says {
    tests,  ///< as Google Test does, on the standard output
    bench,  ///< a file of measurements
    status, ///< by their status alone
};

/// What is built and run for a cell, in a clone.
struct Recipe {
    std::string tree;     ///< "asan" or "host", below build/
    std::string target;   ///< what ninja builds there
    std::string programs; ///< a program, or a folder of programs, below the tree
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;
    Says says = Says::tests;
};
Recipe recipe_of(const Cell &cell);

} // namespace niclab::matrix
