import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type * as Files from "../../../../src/os/files/fs.ts";
import { findTeam } from "../../../../src/team/config/find-team.ts";
import { testHome } from "../../../support/team/test-team.ts";

// A disk that ignores case: it finds an entry by each spelling, and lists only one.
vi.mock("../../../../src/os/files/fs.ts", async (original) => {
  const files = await original<typeof Files>();
  const entryOf: typeof files.entryOf = (path) => {
    return (
      files.entryOf(path) ?? files.entryOf(String(path).replace("/teams/snakegame/", "/teams/SnakeGame/"))
    );
  };
  return { ...files, entryOf };
});

it.each(["SnakeGame", "snakegame", "SNAKEGAME"])(
  "findTeam › returns the real spelling of a directory for %s when the disk ignores case",
  (name) => {
    const home = testHome();
    mkdirSync(join(home.root, "teams", "SnakeGame"), { recursive: true });
    writeFileSync(join(home.root, "teams", "SnakeGame", "config.json"), "{}");
    expect(findTeam(home, name).team).toBe("SnakeGame");
  },
);
