// The field of the FDTD-2D sample in double precision on the CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

struct Range {  // half-open, of rows or of columns
    int first;
    int last;
};

struct Field {
    std::vector<float> ex;  // nx x (ny + 1)
    std::vector<float> ey;  // (nx + 1) x ny
    std::vector<float> hz;  // nx x ny
};

// Advances hz and gives it for one window of the domain. What one step makes of a cell depends on its direct
// neighbours only, so after every step the region that is still exact shrinks by one cell at each side that
// is not a side of the domain: the window needs a halo of as many cells as there are steps.
class FieldReference {
  public:
    FieldReference(const Field& start, const std::vector<float>& fict, int nx, int ny, Range rows,
                   Range columns)
        : fict_(fict),
          nx_(nx),
          ny_(ny),
          rows_(rows),
          columns_(columns),
          halo_(static_cast<int>(fict.size())) {
        box_rows_ = grown(rows_, halo_, nx_);
        box_columns_ = grown(columns_, halo_, ny_);
        // One row and one column more than hz has: the far edges of ex and ey.
        width_ = box_columns_.last - box_columns_.first + 1;
        const std::size_t cells = width_ * static_cast<std::size_t>(box_rows_.last - box_rows_.first + 1);
        ex_.resize(cells);
        ey_.resize(cells);
        hz_.resize(cells);
        for (int i = box_rows_.first; i <= box_rows_.last; i++) {
            for (int j = box_columns_.first; j <= box_columns_.last; j++) {
                if (i < nx_) ex_[at(i, j)] = start.ex[i * (ny_ + std::size_t{1}) + j];
                if (j < ny_) ey_[at(i, j)] = start.ey[i * std::size_t(ny_) + j];
                if (i < nx_ && j < ny_) hz_[at(i, j)] = start.hz[i * std::size_t(ny_) + j];
            }
        }
        for (int t = 0; t < halo_; t++) step(t);
    }

    double hz(int i, int j) const { return hz_[at(i, j)]; }
    double ex(int i, int j) const { return ex_[at(i, j)]; }
    double ey(int i, int j) const { return ey_[at(i, j)]; }

  private:
    static Range grown(Range range, int by, int end) {
        return {std::max(range.first - by, 0), std::min(range.last + by, end)};
    }
    std::size_t at(int i, int j) const {
        return std::size_t(i - box_rows_.first) * width_ + std::size_t(j - box_columns_.first);
    }

    void step(int t) {
        const int left = halo_ - 1 - t;  // the halo that later steps need
        const Range rows = grown(rows_, left, nx_), columns = grown(columns_, left, ny_);
        // hz of (i, j) needs ey of row i + 1 and ex of column j + 1; those beyond the domain never change.
        const Range ey_rows = grown({rows.first, rows.last + 1}, 0, nx_);
        const Range ex_columns = grown({columns.first, columns.last + 1}, 0, ny_);
        for (int i = ey_rows.first; i < ey_rows.last; i++) {
            for (int j = columns.first; j < columns.last; j++) {
                if (i == 0)
                    ey_[at(i, j)] = fict_[t];
                else
                    ey_[at(i, j)] -= 0.5 * (hz_[at(i, j)] - hz_[at(i - 1, j)]);
            }
        }
        for (int i = rows.first; i < rows.last; i++) {
            for (int j = std::max(ex_columns.first, 1); j < ex_columns.last; j++)
                ex_[at(i, j)] -= 0.5 * (hz_[at(i, j)] - hz_[at(i, j - 1)]);
        }
        for (int i = rows.first; i < rows.last; i++) {
            for (int j = columns.first; j < columns.last; j++)
                hz_[at(i, j)] -=
                    0.7 * (ex_[at(i, j + 1)] - ex_[at(i, j)] + ey_[at(i + 1, j)] - ey_[at(i, j)]);
        }
    }

    const std::vector<float>& fict_;
    int nx_;
    int ny_;
    Range rows_;
    Range columns_;
    int halo_;
    Range box_rows_{};
    Range box_columns_{};
    std::size_t width_ = 0;
    std::vector<double> ex_;
    std::vector<double> ey_;
    std::vector<double> hz_;
};
