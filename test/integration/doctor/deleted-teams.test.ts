import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkLeftovers, checkTaskLists } from "../../../src/doctor/deleted-teams.ts";
import { ownerRecord } from "../../../src/store/owner-lock.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

describe("checkLeftovers", () => {
  it("lists leftovers, removes them with --fix, and keeps directories that are in use or recent", () => {
    const directory = temporaryDirectory();
    const [root, runtime] = [join(directory, "root"), join(directory, "run")];
    const now = Date.parse("2030-01-01");
    const make = (path: string, ageMinutes: number): string => {
      mkdirSync(path, { recursive: true });
      const at = new Date(now - ageMinutes * 60_000);
      utimesSync(path, at, at);
      return path;
    };
    make(join(root, "teams", "living"), 600);
    writeFileSync(join(root, "teams", "living", "config.json"), "{}");
    make(join(runtime, "living"), 600);
    make(join(runtime, "young"), 5);
    const bell = make(join(runtime, "ended"), 120);
    const unfinished = ["deleted", "new", "leftover"].map((word) =>
      make(join(root, "teams", `.x.${word}-${"0".repeat(8)}-aaaa-bbbb-cccc-${"1".repeat(12)}`), 120),
    );
    // The process of the first one has ended, so its age does not matter; `own` belongs to this live process.
    const dead = ownerRecord().replace(/^\d+/, String(spawnSync("true").pid));
    unfinished.push(make(join(root, "teams", `.import.new-${dead}`), 0));
    const own = make(join(root, "teams", `.import.new-${ownerRecord()}`), 120);
    const tasks = make(join(root, "tasks", basename(unfinished[1] ?? "")), 120);
    const recording = (name: string, days: number): string => {
      const part = make(join(root, "recordings", name), days * 1_440);
      writeFileSync(join(part, "lead.jsonl"), "");
      const at = new Date(now - days * 86_400_000);
      for (const path of [join(part, "lead.jsonl"), part]) utimesSync(path, at, at);
      return part;
    };
    unfinished.push(recording("killed", 4));
    const recorded = recording("at-work", 2);
    const found = checkLeftovers({ root, runtime }, now, false);
    expect(found).toMatchObject({ level: "warn", remedy: expect.stringContaining("--fix") });
    expect(found.text).toContain(bell);
    expect(found.text).toMatch(/^7 /);
    expect(checkLeftovers({ root, runtime }, now, true).text).toMatch(/^removed 7/);
    for (const gone of [bell, ...unfinished, tasks]) expect(existsSync(gone)).toBe(false);
    for (const stays of [own, recorded]) expect(existsSync(stays)).toBe(true);
    expect(checkLeftovers({ root, runtime }, now, false)).toMatchObject({ level: "ok", text: "none" });
  });
});

describe("checkTaskLists", () => {
  it("names each task list without a team and its delete command, but ignores a session's list", () => {
    const root = temporaryDirectory();
    const make = (team: string): string => {
      const list = join(root, "tasks", team);
      mkdirSync(list, { recursive: true });
      writeFileSync(join(list, "1.json"), "{}");
      return list;
    };
    expect(checkTaskLists(root)).toMatchObject({ level: "ok" });
    make("0b5e1f3a-0000-4000-8000-000000000000");
    make("living");
    mkdirSync(join(root, "teams", "living"), { recursive: true });
    writeFileSync(join(root, "teams", "living", "config.json"), "{}");
    expect(checkTaskLists(root)).toMatchObject({ level: "ok" });
    const orphan = make("-orph");
    expect(checkTaskLists(root)).toMatchObject({
      level: "warn",
      text: `1 without a team: ${orphan}`,
      remedy: expect.stringContaining("teams delete --force -- -orph"),
    });
  });
});
