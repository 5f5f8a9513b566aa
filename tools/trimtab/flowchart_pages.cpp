// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/flowchart_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/trimtab/html_text.h"

namespace trimtab::tools {
namespace {

using model::Metric;
using model::Node;
using model::NodeIndex;
using model::Op;
using model::RationalProgram;

constexpr std::size_t least_boxes = 4, most_boxes = 14;  // of a subject

// A node with a box: it has a name, decides, or is a result.
struct Box {
    std::vector<NodeIndex> from;  // boxes that its formula refers to
    std::vector<Metric> metrics;  // that it reads
};
using Boxes = std::map<NodeIndex, Box>;

bool is_drawn(const RationalProgram& program, NodeIndex index) {
    return !program.nodes[index].label.empty() || program.nodes[index].op == Op::select ||
           index == program.time_ns || index == program.unlaunchable;
}

void collect(const RationalProgram& program, NodeIndex index, Box& box) {
    const Node& node = program.nodes[index];
    const auto add = [](auto& list, auto value) {
        if (std::ranges::find(list, value) == list.end()) list.push_back(value);
    };
    if (node.op == Op::metric) add(box.metrics, node.metric);
    for (const NodeIndex operand : operands(node)) {
        if (is_drawn(program, operand))
            add(box.from, operand);
        else
            collect(program, operand, box);
    }
}

// Those that a result needs.
Boxes boxes_of(const RationalProgram& program) {
    Boxes boxes;
    std::vector<NodeIndex> todo{program.time_ns, program.unlaunchable};
    while (!todo.empty()) {
        const NodeIndex index = todo.back();
        todo.pop_back();
        const auto [place, is_new] = boxes.try_emplace(index);
        if (!is_new) continue;
        collect(program, index, place->second);
        todo.insert(todo.end(), place->second.from.begin(), place->second.from.end());
    }
    return boxes;
}

// The box that every way from a box to a result goes through next; without one, none. Operands come before their
// users, so that users are done first.
std::map<NodeIndex, std::optional<NodeIndex>> dominators(const Boxes& boxes) {
    std::map<NodeIndex, std::vector<NodeIndex>> users;
    for (const auto& [index, box] : boxes)
        for (const NodeIndex operand : box.from) users[operand].push_back(index);
    std::map<NodeIndex, std::optional<NodeIndex>> next;
    const auto common = [&](std::optional<NodeIndex> a, std::optional<NodeIndex> b) {
        while (a != b) {
            if (!a || !b) return std::optional<NodeIndex>();
            std::optional<NodeIndex>& lower = *a < *b ? a : b;
            lower = next.at(*lower);
        }
        return a;
    };
    for (auto box = boxes.rbegin(); box != boxes.rend(); ++box) {
        const auto used = users.find(box->first);
        if (used == users.end()) {
            next[box->first] = std::nullopt;
            continue;
        }
        std::optional<NodeIndex> above = used->second.front();
        for (const NodeIndex user : used->second) above = common(above, user);
        next[box->first] = above;
    }
    return next;
}

std::string name_of(const RationalProgram& program, NodeIndex index) {
    const Node& node = program.nodes[index];
    if (!node.label.empty()) return node.label;
    return node.op == Op::select ? fmt::format("choice_{}", index) : "result";
}

std::string with_unit(const RationalProgram& program, NodeIndex index) {
    const Node& node = program.nodes[index];
    return name_of(program, index) + (node.unit.empty() ? "" : " [" + node.unit + "]");
}

// A label in Graphviz's language, lines flush left.
std::string label(const std::vector<std::string>& lines) {
    constexpr std::size_t width = 52;
    std::string out;
    for (const std::string& line : lines) {
        std::size_t column = 0;
        for (std::size_t at = 0; at < line.size();) {
            const std::size_t end = std::min(line.find(' ', at), line.size());
            if (column > 0 && column + end - at > width) {
                out += "\\l  ";
                column = 2;
            } else if (column > 0) {
                out += ' ';
            }
            for (const char c : line.substr(at, end - at)) {
                if (c == '"' || c == '\\') out += '\\';
                out += c == '\n' ? ' ' : c;
            }
            column += end - at + 1;
            at = end + 1;
        }
        if (!line.empty()) out += "\\l";
    }
    return out;
}

std::string box(const std::string& id, const std::vector<std::string>& lines, const std::string& link,
                const char* style) {
    return fmt::format("  {} [label=\"{}\"{}{}];\n", id, label(lines),
                       link.empty() ? "" : fmt::format(", URL=\"#{}\"", link), style);
}

std::string graph(const std::string& body) {
    return "digraph chart {\n  bgcolor=\"transparent\"; rankdir=TB; ranksep=0.35; nodesep=0.2;\n"
           "  node [fontname=\"Helvetica\", fontsize=11, shape=box, style=filled, fillcolor=\"#ffffff\"];\n"
           "  edge [arrowsize=0.7];\n" +
           body + "}\n";
}

class Pages {
  public:
    Pages(const RationalProgram& program, const MetricText& metric_text, const Draw& draw)
        : program_(program),
          metric_text_(metric_text),
          draw_(draw),
          boxes_(boxes_of(program)),
          subjects_(subjects_of(program)) {
        for (const Subject& subject : subjects_)
            for (const NodeIndex node : subject.nodes) home_[node] = subject.head;
    }

    std::expected<std::string, Error> write(const std::string& title) {
        std::string out =
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
            "<title>Flow chart</title>\n<style>:root{color-scheme:light "
            "dark;--back:#fff;--text:#1b1b1b;--line:#ccc}"
            "@media(prefers-color-scheme:dark){:root{--back:#16181c;--text:#e4e4e4;--line:#444}}"
            "body{font:14px sans-serif;margin:1.5em;background:var(--back);color:var(--text)}"
            "section{border-top:1px solid var(--line);margin-top:1.5em}h1,h2,code{overflow-wrap:anywhere}"
            ".chart{overflow-x:auto;background:#eef1f4;border-radius:6px;padding:.5em}.chart "
            "svg{max-width:none}"
            "a{color:#4c8ed0}</style></head><body>\n";
        out += fmt::format(
            "<h1>{}</h1>\n<p>Each box is a subject: what leads to one intermediate of the model. "
            "Follow a box to its chart, and a yellow one to what its metric was fitted to.</p>\n",
            escaped_html(title));
        const auto overview = chart(overview_graph());
        if (!overview) return overview;
        out += *overview;
        for (const Subject& subject : subjects_) {
            const auto section = section_of(subject);
            if (!section) return section;
            out += *section;
        }
        for (const auto& [metric, users] : metrics_) out += metric_section(metric, users);
        return out + "</body></html>\n";
    }

  private:
    std::expected<std::string, Error> chart(const std::string& dot) {
        auto svg = draw_(dot);
        if (!svg) return svg;
        // Within a page, without the file's own header.
        if (const std::size_t begin = svg->find("<svg"); begin != std::string::npos) svg->erase(0, begin);
        return "<div class=\"chart\">" + *svg + "</div>\n";
    }

    static std::string id(NodeIndex index) { return fmt::format("n{}", index); }
    static std::string anchor(NodeIndex head) { return fmt::format("subject-{}", head); }
    static std::string anchor(Metric metric) { return fmt::format("metric-{}", model::name(metric)); }
    std::string link(NodeIndex index) const {
        return fmt::format("<a href=\"#{}\">{}</a>", anchor(home_.at(index)),
                           escaped_html(name_of(program_, index)));
    }

    std::string overview_graph() const {
        std::string body;
        std::set<std::pair<NodeIndex, NodeIndex>> edges;
        for (const Subject& subject : subjects_) {
            const Node& head = program_.nodes[subject.head];
            body +=
                box(id(subject.head),
                    {with_unit(program_, subject.head), head.comment,
                     fmt::format("{} box{}", subject.nodes.size(), subject.nodes.size() == 1 ? "" : "es")},
                    anchor(subject.head),
                    subject.head == program_.time_ns || subject.head == program_.unlaunchable
                        ? ", fillcolor=\"#d9ead3\""
                        : "");
            for (const NodeIndex input : subject.inputs) edges.emplace(home_.at(input), subject.head);
        }
        for (const auto& [from, to] : edges) body += fmt::format("  {} -> {};\n", id(from), id(to));
        return graph(body);
    }

    std::expected<std::string, Error> section_of(const Subject& subject) {
        std::string body;
        for (const NodeIndex input : subject.inputs)
            body += box(id(input), {with_unit(program_, input)}, anchor(home_.at(input)),
                        ", style=\"dashed,filled\"");
        std::set<Metric> metrics;
        for (const NodeIndex index : subject.nodes) {
            const Node& node = program_.nodes[index];
            const bool is_result = index == program_.time_ns || index == program_.unlaunchable;
            body += box(id(index),
                        {with_unit(program_, index), "= " + formula(program_, index), node.comment}, "",
                        is_result               ? ", fillcolor=\"#d9ead3\""
                        : node.op == Op::select ? ", fillcolor=\"#cfe2f3\""
                                                : "");
            const Box& own = boxes_.at(index);
            for (const NodeIndex from : own.from) body += fmt::format("  {} -> {};\n", id(from), id(index));
            for (const Metric metric : own.metrics) {
                metrics.insert(metric);
                metrics_[metric].insert(index);
                body += fmt::format("  m{} -> {};\n", static_cast<int>(metric), id(index));
            }
        }
        for (const Metric metric : metrics)
            body += box(fmt::format("m{}", static_cast<int>(metric)), {std::string(model::name(metric))},
                        anchor(metric), ", fillcolor=\"#fff2cc\"");
        const auto drawn = chart(graph(body));
        if (!drawn) return drawn;
        std::string users;
        for (const Subject& other : subjects_)
            for (const NodeIndex input : other.inputs)
                if (home_.at(input) == subject.head && !users.contains(anchor(other.head)))
                    users += (users.empty() ? "" : ", ") + link(other.head);
        return fmt::format("<section id=\"{}\"><h2>{}</h2>\n<p>{}{}</p>\n{}</section>\n",
                           anchor(subject.head), escaped_html(with_unit(program_, subject.head)),
                           escaped_html(program_.nodes[subject.head].comment),
                           users.empty() ? std::string() : " Used by " + users + ".", *drawn);
    }

    std::string metric_section(Metric metric, const std::set<NodeIndex>& users) const {
        const auto info = std::ranges::find(model::metric_table(), metric, &model::MetricInfo::metric);
        std::string used;
        for (const NodeIndex user : users) used += (used.empty() ? "" : ", ") + link(user);
        const std::string fitted = metric_text_ ? metric_text_(metric) : "";
        return fmt::format(
            "<section id=\"{}\"><h2>{}</h2>\n<p>{}, in {}. Read by {}.</p>\n{}</section>\n", anchor(metric),
            escaped_html(model::name(metric)), escaped_html(info->meaning), escaped_html(info->unit), used,
            fitted.empty() ? std::string() : "<p><code>" + escaped_html(fitted) + "</code></p>\n");
    }

    const RationalProgram& program_;
    const MetricText& metric_text_;
    const Draw& draw_;
    Boxes boxes_;
    std::vector<Subject> subjects_;
    std::map<NodeIndex, NodeIndex> home_;  // of a box: its subject's head
    std::map<Metric, std::set<NodeIndex>> metrics_;
};

}  // namespace

std::vector<Subject> subjects_of(const RationalProgram& program) {
    const Boxes boxes = boxes_of(program);
    const auto above = dominators(boxes);
    // From operands up: a box takes with it what leads to it alone, until it is enough.
    std::map<NodeIndex, std::size_t> size;
    std::set<NodeIndex> heads{program.time_ns, program.unlaunchable};
    for (const auto& [index, box] : boxes) {
        const std::size_t own = ++size[index];
        if (own >= least_boxes)
            heads.insert(index);
        else if (const auto next = above.at(index); next && !heads.contains(index))
            size[*next] += own;
    }
    std::map<NodeIndex, std::vector<NodeIndex>> members;
    for (const auto& [index, box] : boxes) {
        NodeIndex home = index;
        // What the time and the limits share says whether, and how often, a block fits an SM.
        while (!heads.contains(home)) home = above.at(home).value_or(program.unlaunchable);
        members[home].push_back(index);
    }
    std::vector<Subject> out;
    for (const auto& [head, nodes] : members) {
        // Too many for a sheet: in even parts, each named for its last box.
        const std::size_t parts = (nodes.size() + most_boxes - 1) / most_boxes;
        for (std::size_t part = 0; part < parts; ++part) {
            Subject subject;
            const auto from = static_cast<std::ptrdiff_t>(nodes.size() * part / parts);
            const auto to = static_cast<std::ptrdiff_t>(nodes.size() * (part + 1) / parts);
            subject.nodes.assign(nodes.begin() + from, nodes.begin() + to);
            subject.head = subject.nodes.back();
            out.push_back(std::move(subject));
        }
    }
    for (Subject& subject : out)
        for (const NodeIndex node : subject.nodes)
            for (const NodeIndex from : boxes.at(node).from)
                if (std::ranges::find(subject.nodes, from) == subject.nodes.end() &&
                    std::ranges::find(subject.inputs, from) == subject.inputs.end())
                    subject.inputs.push_back(from);
    std::ranges::sort(out, {}, &Subject::head);
    // The time first, then from it down.
    std::ranges::reverse(out);
    const auto time = std::ranges::find(out, program.time_ns, &Subject::head);
    std::rotate(out.begin(), time, std::next(time));
    return out;
}

std::expected<std::string, Error> flowchart_pages(const RationalProgram& program, const std::string& title,
                                                  const MetricText& metric_text, const Draw& draw) {
    return Pages(program, metric_text, draw).write(title);
}

}  // namespace trimtab::tools
