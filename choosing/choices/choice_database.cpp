// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/choice_database.h"

#include <sqlite3.h>

#include <cstdio>
#include <memory>
#include <new>

namespace trimtab::choosing {
namespace {

// A launch waits no longer than this for another process; without an answer the choice is made anew.
constexpr int patience_ms = 50;

constexpr const char* set_up =
    // A crash in the middle of a write loses that write alone; readers and writers do not wait for each
    // other.
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=NORMAL;"
    "CREATE TABLE IF NOT EXISTS choices_3(kernel TEXT NOT NULL, device TEXT NOT NULL, key BLOB NOT NULL,"
    " build INTEGER NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL, z INTEGER NOT NULL,"
    " grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL, written_ns REAL NOT NULL, "
    "chosen_ns REAL NOT NULL, body TEXT NOT NULL, PRIMARY KEY(kernel, device, key)) WITHOUT ROWID;";

struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};

struct Database {
    std::unique_ptr<sqlite3, Close> connection;
    Statement find, add;  // before the connection goes, they do
};

int fail(sqlite3* connection, char* error, std::size_t error_bytes) {
    const int code = sqlite3_errcode(connection);
    const bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    std::snprintf(error, error_bytes, "%s", busy ? "" : sqlite3_errmsg(connection));
    return busy ? choices_busy : choices_failed;
}

bool bind_key(sqlite3_stmt* statement, const ChoiceRow& row) {
    return sqlite3_bind_text(statement, 1, row.kernel, -1, SQLITE_STATIC) == SQLITE_OK &&
           sqlite3_bind_text(statement, 2, row.device, -1, SQLITE_STATIC) == SQLITE_OK &&
           sqlite3_bind_blob(statement, 3, row.key, static_cast<int>(row.key_bytes), SQLITE_STATIC) ==
               SQLITE_OK &&
           sqlite3_bind_int64(statement, 4, static_cast<sqlite3_int64>(row.build)) == SQLITE_OK;
}

bool add_row(sqlite3_stmt* statement, const ChoiceRow& row) {
    const bool done = bind_key(statement, row) &&
                      sqlite3_bind_int64(statement, 5, row.block.x) == SQLITE_OK &&
                      sqlite3_bind_int64(statement, 6, row.block.y) == SQLITE_OK &&
                      sqlite3_bind_int64(statement, 7, row.block.z) == SQLITE_OK &&
                      sqlite3_bind_int64(statement, 8, row.grid.x) == SQLITE_OK &&
                      sqlite3_bind_int64(statement, 9, row.grid.y) == SQLITE_OK &&
                      sqlite3_bind_int64(statement, 10, row.grid.z) == SQLITE_OK &&
                      sqlite3_bind_double(statement, 11, row.written_ns) == SQLITE_OK &&
                      sqlite3_bind_double(statement, 12, row.chosen_ns) == SQLITE_OK &&
                      sqlite3_bind_text(statement, 13, row.body.data(), -1, SQLITE_STATIC) == SQLITE_OK &&
                      sqlite3_step(statement) == SQLITE_DONE;
    return sqlite3_reset(statement) == SQLITE_OK && done;
}

std::uint32_t size_of(sqlite3_stmt* statement, int column) {
    const sqlite3_int64 value = sqlite3_column_int64(statement, column);
    return value < 0 || value > UINT32_MAX ? 0 : static_cast<std::uint32_t>(value);
}

}  // namespace

extern "C" {

void* trimtab_choices_open(const char* path, char* error, std::size_t error_bytes) {
    std::unique_ptr<Database> database(new (std::nothrow) Database);
    if (database == nullptr) return nullptr;
    sqlite3* connection = nullptr;
    const int opened = sqlite3_open_v2(
        path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
    database->connection.reset(connection);
    const auto prepare = [connection](const char* text, Statement& statement) {
        sqlite3_stmt* made = nullptr;
        const int status = sqlite3_prepare_v2(connection, text, -1, &made, nullptr);
        statement.reset(made);
        return status == SQLITE_OK;
    };
    if (opened != SQLITE_OK || sqlite3_busy_timeout(connection, patience_ms) != SQLITE_OK ||
        sqlite3_exec(connection, set_up, nullptr, nullptr, nullptr) != SQLITE_OK ||
        !prepare("SELECT x, y, z, grid_x, grid_y, grid_z, written_ns, chosen_ns, body FROM choices_3"
                 " WHERE kernel = ?1 AND device = ?2 AND key = ?3 AND build = ?4",
                 database->find) ||
        !prepare(
            "INSERT OR REPLACE INTO choices_3 VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            database->add)) {
        static_cast<void>(fail(connection, error, error_bytes));
        return nullptr;
    }
    return database.release();
}

void trimtab_choices_close(void* database) {
    delete static_cast<Database*>(database);
}

int trimtab_choices_find(void* pointer, ChoiceRow* row, char* error, std::size_t error_bytes) {
    auto& database = *static_cast<Database*>(pointer);
    sqlite3_stmt* statement = database.find.get();
    if (!bind_key(statement, *row)) return fail(database.connection.get(), error, error_bytes);
    const int status = sqlite3_step(statement);
    int answer = status == SQLITE_ROW ? 1 : 0;
    if (status == SQLITE_ROW) {
        row->block = {.x = size_of(statement, 0), .y = size_of(statement, 1), .z = size_of(statement, 2)};
        row->grid = {.x = size_of(statement, 3), .y = size_of(statement, 4), .z = size_of(statement, 5)};
        row->written_ns = sqlite3_column_double(statement, 6);
        row->chosen_ns = sqlite3_column_double(statement, 7);
        if (const auto* body = reinterpret_cast<const char*>(sqlite3_column_text(statement, 8)))
            std::snprintf(row->body.data(), row->body.size(), "%s", body);
    } else if (status != SQLITE_DONE) {
        answer = fail(database.connection.get(), error, error_bytes);
    }
    sqlite3_reset(statement);
    return answer;
}

int trimtab_choices_add(void* pointer, const ChoiceRow* rows, std::size_t count, char* error,
                        std::size_t error_bytes) {
    auto& database = *static_cast<Database*>(pointer);
    sqlite3* connection = database.connection.get();
    const auto run = [connection](const char* text) {
        return sqlite3_exec(connection, text, nullptr, nullptr, nullptr) == SQLITE_OK;
    };
    bool done = run("BEGIN IMMEDIATE");
    for (std::size_t i = 0; done && i < count; ++i) done = add_row(database.add.get(), rows[i]);
    if (done && run("COMMIT")) return 0;
    const int status = fail(connection, error, error_bytes);
    if (sqlite3_get_autocommit(connection) == 0) static_cast<void>(run("ROLLBACK"));
    return status;
}

}  // extern "C"

}  // namespace trimtab::choosing
