import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { openTranscript } from "../../../../src/agent/conversation/transcript.ts";
import { replaceWithBytes } from "../../../../src/os/files/tar.ts";
import { identityOf } from "../../../../src/os/process/identity.ts";
import { agentFileName, planPath, transcriptPath } from "../../../../src/protocol/paths.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { exportTeam } from "../../../../src/team/archive/export-team.ts";
import { importTeam } from "../../../../src/team/archive/import-team.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { removeTeamFiles } from "../../../../src/team/config/delete-files.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { markAsRead, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { judgeLiveness } from "../../../../src/team/members/judge-liveness.ts";
import { findMember, patchMember } from "../../../../src/team/members/members.ts";
import { readExit, readPlace, readStatus, writePlace } from "../../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { openRequest } from "../../../../src/team/requests/requests.ts";
import { linkTasks } from "../../../../src/team/tasks/dependencies.ts";
import { changeTask, createTask, deleteTask, listTasks } from "../../../../src/team/tasks/tasks.ts";
import { rotatedPath } from "../../../../src/telemetry/event-log.ts";
import {
  archiveOf,
  exported,
  packed,
  readAll,
  stream,
  type TestEntry,
  unpacked,
} from "../../../support/files/archive-files.ts";
import { script } from "../../../support/processes/script-process.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testHome, testTeam } from "../../../support/team/test-team.ts";

const sendMany = script("team/send-many");

/** Creates a team with messages, tasks, conversations and plans. */
async function richTeam(): Promise<TeamRef> {
  const ref = await testTeam(["dev", "検 a"], { name: "My Crew" });
  for (const name of ["dev", "検 a"]) {
    const sessionId = `session-${agentFileName(name)}`.replaceAll("%", "");
    const transcript = transcriptPath(ref.home.root, sessionId);
    writeStatus(ref, name, statusOf({ sessionId, transcript, instance: `i-${name}`, bell: "/dev/null" }));
    openTranscript(transcript, { sessionId }).append({
      type: "user",
      message: { role: "user", content: [{ type: "text", text: `for ${name}` }] },
      keys: ["k"],
    });
    const plan = planPath(ref.home.root, ref.team, name);
    mkdirSync(dirname(plan), { recursive: true });
    writeFileSync(plan, `# Plan of ${name}`);
  }
  for (const text of ["one", "two"]) await sendMessage(ref, { from: LEAD_NAME, to: "dev", text });
  const [first] = await unreadMessages(ref, "dev");
  await markAsRead(ref, "dev", [first?.key ?? ""]);
  await sendMessage(ref, { from: "dev", to: "検 a", text: "three" });
  await createTask(ref, { subject: "first", owner: "dev", metadata: { note: 1 } });
  await createTask(ref, { subject: "second" });
  await createTask(ref, { subject: "gone" });
  await linkTasks(ref, { id: "2", addBlockedBy: ["1"] });
  await deleteTask(ref, "3");
  return ref;
}

/** Returns every file below a directory with its content. */
function filesIn(directory: string): Record<string, string> {
  if (!existsSync(directory)) return {};
  const names = readdirSync(directory, { recursive: true }) as string[];
  const files = names.sort().filter((name) => statSync(join(directory, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}

const stateOf = (ref: TeamRef, name: string): string =>
  judgeLiveness(findMember(readTeam(ref), name), {
    status: readStatus(ref, name),
    place: readPlace(ref, name),
    exit: readExit(ref, name),
  }).state;

const restore = (ref: TeamRef, archive: Buffer, options: { name?: string; unique?: boolean } = {}) =>
  importTeam(ref.home, stream(archive), { now: 5, cwd: "/", ...options });

describe("exporting, deleting and importing a team", () => {
  test("restores older events, members' start options and notes of their agent types", async () => {
    const ref = await richTeam();
    const older = rotatedPath(ref.paths.events);
    writeFileSync(older, '{"ts":"2026-01-01T00:00:00.000Z","type":"idle","team":"my-crew"}\n');
    const newer = readFileSync(ref.paths.events, "utf8");
    const notes = join(ref.home.root, "agent-memory", "reviewer", "MEMORY.md");
    mkdirSync(dirname(notes), { recursive: true });
    writeFileSync(notes, "Look at the edges.");
    const given = { _types: "/work", _tools: ["Read"], _prompt: { append: "Be brief." }, own: [1] };
    await patchMember(ref, "dev", { agentType: "reviewer", metadata: given });
    const archive = await exported(ref);
    const events = [readFileSync(older, "utf8"), newer];
    await removeTeamFiles(ref);
    const { ref: copy } = await restore(ref, archive);
    expect(findMember(readTeam(copy), "dev")).toMatchObject({ agentType: "reviewer", metadata: given });
    expect(readFileSync(rotatedPath(copy.paths.events), "utf8")).toBe(events[0]);
    expect(readFileSync(copy.paths.events, "utf8").startsWith(events[1] ?? "-")).toBe(true);
    expect(readFileSync(notes, "utf8")).toBe("Look at the edges.");
  });

  test("restores members, messages and tasks, and leaves no notification to send", async () => {
    const ref = await richTeam();
    const before = {
      members: readTeam(ref).members.map(({ name, agentId, color }) => ({ name, agentId, color })),
      displayName: readTeam(ref).displayName,
      tasks: listTasks(ref),
      messages: [await history(ref, "dev", { all: true }), await history(ref, "検 a")],
      unread: (await unreadMessages(ref, "dev")).map(({ message }) => message.text),
    };
    const archive = await exported(ref);
    await removeTeamFiles(ref);
    const { ref: copy } = await restore(ref, archive);
    const config = readTeam(copy);
    expect({
      members: config.members.map(({ name, agentId, color }) => ({ name, agentId, color })),
      displayName: config.displayName,
      tasks: listTasks(copy),
      messages: [await history(copy, "dev", { all: true }), await history(copy, "検 a")],
      unread: (await unreadMessages(copy, "dev")).map(({ message }) => message.text),
    }).toEqual(before);
    expect((await createTask(copy, { subject: "next" })).id).toBe("4");
    expect(config.members.map(({ name }) => name === LEAD_NAME || stateOf(copy, name))).toEqual([
      true,
      "exited",
      "exited",
    ]);
  });

  test("restores conversations, each with a new session id, and plans", async () => {
    const ref = await richTeam();
    const archive = await exported(ref);
    await removeTeamFiles(ref);
    writeFileSync(planPath(ref.home.root, ref.team, "dev"), "somebody's own");
    const { ref: copy } = await restore(ref, archive);
    for (const name of ["dev", "検 a"]) {
      const { sessionId = "", transcript = "" } = readStatus(copy, name) ?? {};
      expect(transcript).toBe(transcriptPath(ref.home.root, sessionId));
      expect(sessionId).not.toMatch(/^session-/);
      const { restored } = openTranscript(transcript, { sessionId });
      expect(restored.messages).toMatchObject([{ content: [{ text: `for ${name}` }] }]);
      expect([...restored.handledKeys]).toEqual(["k"]);
      expect(JSON.parse(readFileSync(transcript, "utf8").split("\n")[0] ?? "")).toMatchObject({ sessionId });
      expect(readFileSync(planPath(ref.home.root, copy.team, name), "utf8")).toBe(`# Plan of ${name}`);
    }
    const kept = `${planPath(ref.home.root, ref.team, "dev")}.before-5`;
    expect(readFileSync(kept, "utf8")).toBe("somebody's own");
  });

  test.each([0, 0o277])("restores private, writable files under any umask (%i)", async (umask) => {
    const ref = await richTeam();
    const archive = await exported(ref);
    await removeTeamFiles(ref);
    const before = process.umask(umask);
    const { ref: copy } = await restore(ref, archive).finally(() => process.umask(before));
    for (const directory of [copy.paths.dir, copy.paths.tasks]) {
      for (const name of ["", ...(readdirSync(directory, { recursive: true }) as string[])]) {
        const entry = statSync(join(directory, name));
        expect([name, entry.mode & 0o777]).toEqual([name, entry.isDirectory() ? 0o700 : 0o600]);
      }
    }
  });
});

describe("importing a copy of an existing team", () => {
  test("creates new ids, and unassigns tasks that a process had claimed", async () => {
    const ref = await richTeam();
    const { process: lease } = statusOf();
    await changeTask(ref, "1", (task) => ({
      ...task,
      status: "in_progress",
      metadata: { note: 1, _lease: lease },
    }));
    await changeTask(ref, "2", (task) => ({ ...task, owner: "a person" }));
    openRequest(ref, { id: "q", kind: "question", from: "dev", summary: "", payload: {}, at: 1 });
    const archive = await exported(ref);
    await expect(restore(ref, archive)).rejects.toMatchObject({ code: "TEAM_EXISTS" });
    const { ref: copy, received } = await restore(ref, archive, { name: "Second" });
    expect(readTeam(copy)).toMatchObject({
      name: "second",
      displayName: "Second",
      leadAgentId: "team-lead@second",
      members: [{ agentId: "team-lead@second" }, { agentId: "dev@second" }, { agentId: "検 a@second" }],
    });
    expect(listTasks(copy)).toMatchObject([
      { id: "1", status: "pending", metadata: { note: 1 } },
      { id: "2", owner: "a person" },
    ]);
    expect(listTasks(copy)[0]).not.toHaveProperty("owner");
    expect(received).toMatchObject({ freed: ["1"], requests: 1 });
    expect(existsSync(copy.paths.requests)).toBe(false);
    const third = await restore(ref, archive, { unique: true });
    expect([third.ref.team, readTeam(third.ref).displayName]).toEqual(["my-crew-2", undefined]);
  });

  test("is complete under the next name if only a directory of the first name existed", async () => {
    const ref = await richTeam();
    const archive = await exported(ref);
    rmSync(ref.paths.tasks, { recursive: true });
    await expect(restore(ref, archive)).rejects.toMatchObject({ code: "TEAM_EXISTS" });
    expect(existsSync(ref.paths.tasks)).toBe(false);
    const { ref: copy } = await restore(ref, archive, { unique: true });
    expect([copy.team, listTasks(copy).length]).toEqual(["my-crew-2", 2]);
    expect(
      openTranscript(readStatus(copy, "dev")?.transcript ?? "", { sessionId: "s" }).restored.messages,
    ).toHaveLength(1);
    expect(existsSync(ref.paths.tasks)).toBe(false);
  });

  test("contains nothing that reaches or ends the original's processes", async () => {
    const ref = await richTeam();
    const living = spawn("sleep", ["600"]);
    onTestFinished(() => void living.kill("SIGKILL"));
    const process = identityOf(living.pid ?? 0);
    if (process === undefined) throw new Error("sleep did not start");
    writeStatus(ref, "dev", statusOf({ process, instance: "mine", bell: "/b", panePid: 3, paneId: "%3" }));
    writePlace(ref, "dev", { instance: "mine", backend: "tmux", paneId: "%3", panePid: 3, spawnedAt: 1 });
    await updateTeam(ref, (config) => ({
      ...config,
      leadProcess: { ...process, claimedAt: 1 },
      hiddenPaneIds: ["%3"],
      metadata: {
        kept: 1,
        _formerNames: ["run-12ab"],
        _endings: [{ id: "x", name: "dev", process }],
        _leadSession: "session-of-the-run",
      },
      former: [{ name: "old", agentId: "old@my-crew", endedAt: 1, how: "killed", sessionId: "old-session" }],
    }));
    const { ref: copy } = await restore(ref, await exported(ref), { name: "second" });
    const config = readTeam(copy);
    expect(config.metadata).toEqual({ kept: 1 });
    expect(config.former).toEqual([{ name: "old", agentId: "old@second", endedAt: 1, how: "killed" }]);
    expect(config).not.toHaveProperty("leadProcess");
    expect(config).not.toHaveProperty("hiddenPaneIds");
    expect(readPlace(copy, "dev")).toBeUndefined();
    const status = readStatus(copy, "dev");
    expect(Object.keys(status ?? {})).not.toEqual(expect.arrayContaining(["bell"]));
    for (const field of ["bell", "lifeline", "panePid", "paneId", "server"]) {
      expect(status).not.toHaveProperty(field);
    }
    expect([status?.instance, status?.process.pid]).not.toContain("mine");
    expect(status?.process.pid).not.toBe(living.pid);
    expect(stateOf(copy, "dev")).toBe("exited");
  });
});

/** Returns ids of messages that the journal lists as sent but not as received, and that are in no inbox. */
async function lostIn(archive: Buffer): Promise<string[]> {
  const files = new Map(
    (await unpacked(archive)).map(({ name, text }) => [name.replace(/^[^/]*\//, ""), text]),
  );
  const lines = (files.get("journal.jsonl") ?? "").split("\n").filter((line) => line !== "");
  const known = lines.map((line): { id: string; state: string } => JSON.parse(line));
  const received = new Set(known.filter(({ state }) => state !== "queued").map(({ id }) => id));
  const inbox = files.get("inboxes/dev.json") ?? "";
  return known.map(({ id }) => id).filter((id) => !received.has(id) && !inbox.includes(id));
}

test("export › of an active team contains every accepted message exactly once", async () => {
  const ref = await testTeam(["dev"]);
  writeStatus(ref, "dev", statusOf());
  // These files make the export slow: messages arrive during it.
  mkdirSync(ref.paths.requests);
  for (let i = 0; i < 500; i += 1) writeFileSync(join(ref.paths.requests, `r${i}.json`), "{}");
  const senders = ["a", "b"].map((from) => sendMany(ref.home.root, ref.team, from, "dev", "60"));
  const taken: string[] = [];
  let left = senders.length;
  const reading = senders.map(async (sender) => {
    for (let i = 0; i < 60; i += 1) taken.push(await sender.line());
    left -= 1;
  });
  for (let n = 0; left > 0; n += 1) {
    const known = [...taken];
    const receiving = unreadMessages(ref, "dev").then((entries) =>
      markAsRead(
        ref,
        "dev",
        entries.map(({ key }) => key),
      ),
    );
    let archive: Buffer = Buffer.alloc(0);
    for (let again = 0; again < 6; again += 1) {
      const { bytes, consistent } = await exportTeam(ref);
      archive = await readAll(bytes);
      if (consistent) expect(await lostIn(archive)).toEqual([]);
    }
    const { ref: copy } = await restore(ref, archive, { name: `copy-${n}` });
    const texts = (await history(copy, "dev", { all: true })).map(({ text }) => text);
    expect(new Set(texts).size).toBe(texts.length);
    expect(known.filter((text) => !texts.includes(text))).toEqual([]);
    await receiving;
  }
  await Promise.all(reading);
  expect(await exportTeam(ref)).toMatchObject({ consistent: true });
});

const CONFIG = JSON.stringify({
  name: "crew",
  members: [{ name: LEAD_NAME }, { name: "dev" }],
  leadSessionId: "s",
});
const WHOLE: readonly TestEntry[] = [{ name: "config.json", text: CONFIG }];
const DEPTH = 100_000;
/** Valid JSON that is too deep for a recursive function. */
const NESTED = `{"metadata":${'{"a":'.repeat(DEPTH)}1${"}".repeat(DEPTH)}}`;
const TASK = JSON.stringify({ id: "1", subject: "x", status: "pending" });
const STATUS = JSON.stringify(statusOf({ sessionId: "mine" }));

describe("an invalid archive is refused, and creates nothing", () => {
  const refused: Record<string, readonly [reason: string, archive: () => Promise<Buffer>]> = {
    "an uncompressed file": ["not a complete .tar.gz", async () => Buffer.from("hello")],
    "an empty archive": ["is empty", () => packed([])],
    "a truncated file": [
      "not a complete .tar.gz",
      async () => (await archiveOf("crew", WHOLE)).subarray(0, -20),
    ],
    "a missing manifest": [
      "does not begin with the manifest of a team",
      () => packed([{ name: "crew/config.json", text: CONFIG }]),
    ],
    "a manifest of something else": [
      "manifest.json, which cannot be read (format",
      () => archiveOf("crew", WHOLE, { format: "zip" }),
    ],
    "a newer version": ["has version 2", () => archiveOf("crew", WHOLE, { version: 2 })],
    "a manifest of another team": [
      "its manifest names other",
      () => archiveOf("crew", WHOLE, { team: "other" }),
    ],
    "a manifest outside its folder": [
      "does not begin with the manifest of a team",
      () => packed([{ name: "manifest.json", text: "{}" }]),
    ],
    "a folder with an invalid team name": [
      "does not begin with the manifest of a team",
      () => archiveOf("..", WHOLE),
    ],
    "a file listed twice in the manifest": [
      "names a file twice",
      () => archiveOf("crew", [...WHOLE, ...WHOLE]),
    ],
    "a file stored twice": [
      "config.json, which does not match the manifest",
      async () => {
        const files = [{ name: "config.json", size: Buffer.byteLength(CONFIG) }];
        return archiveOf("crew", [...WHOLE, ...WHOLE], { files });
      },
    ],
    "a file missing from the manifest": [
      "config.json, which does not match the manifest",
      () => archiveOf("crew", WHOLE, { files: [] }),
    ],
    "a file missing from the archive": [
      "lacks tasks/1.json",
      () =>
        archiveOf("crew", WHOLE, {
          files: [
            { name: "config.json", size: Buffer.byteLength(CONFIG) },
            { name: "tasks/1.json", size: 3 },
          ],
        }),
    ],
    "a wrong file size": [
      "config.json, which does not match the manifest",
      () => archiveOf("crew", WHOLE, { files: [{ name: "config.json", size: 3 }] }),
    ],
    "a missing config": [
      "lacks config.json",
      () => archiveOf("crew", [{ name: "tasks/1.json", text: TASK }]),
    ],
    "a config of a wrong shape": [
      "config.json, which cannot be read (name",
      () => archiveOf("crew", [{ name: "config.json", text: "{}" }]),
    ],
    "a config that is not JSON": [
      "config.json, which is not JSON",
      () => archiveOf("crew", [{ name: "config.json", text: "{" }]),
    ],
    "a config that is nested too deeply": [
      "config.json, which is nested too deeply",
      () => archiveOf("crew", [{ name: "config.json", text: NESTED }]),
    ],
    "a name that leaves the directory": [
      "which is not a file of a team",
      () => archiveOf("crew", [...WHOLE, { name: "../../evil.json", text: "x" }]),
    ],
    "an absolute name": [
      "which is not a file of a team",
      async () =>
        packed([...(await unpacked(await archiveOf("crew", WHOLE))), { name: "/tmp/evil", text: "x" }]),
    ],
    "a name with dots": [
      "which is not a file of a team",
      () => archiveOf("crew", [...WHOLE, { name: "inboxes/../../x.json", text: "[]" }]),
    ],
    "a name with a backslash": [
      "which is not a file of a team",
      () => archiveOf("crew", [...WHOLE, { name: "inboxes/..\\x.json", text: "[]" }]),
    ],
    "a launch script": [
      "which is not a file of a team",
      () => archiveOf("crew", [...WHOLE, { name: "run/dev/launch.sh", text: "rm" }]),
    ],
    "a place record": [
      "which is not a file of a team",
      () => archiveOf("crew", [...WHOLE, { name: "run/dev/place.json", text: "{}" }]),
    ],
    "a symbolic link": [
      "contains a symlink",
      () =>
        archiveOf("crew", [
          ...WHOLE,
          { name: "journal.jsonl", header: { type: "symlink", linkname: "/etc/passwd" } },
        ]),
    ],
    "a hard link": [
      "contains a link",
      () =>
        archiveOf("crew", [
          ...WHOLE,
          { name: "journal.jsonl", header: { type: "link", linkname: "crew/config.json" } },
        ]),
    ],
    "a FIFO": [
      "contains a fifo",
      () => archiveOf("crew", [...WHOLE, { name: "journal.jsonl", header: { type: "fifo" } }]),
    ],
    "a directory": [
      "contains a directory",
      () => archiveOf("crew", [...WHOLE, { name: "inboxes", header: { type: "directory" } }]),
    ],
    "a task of a wrong shape": [
      "tasks/1.json, which cannot be read",
      () => archiveOf("crew", [...WHOLE, { name: "tasks/1.json", text: "[]" }]),
    ],
    "a high-water mark that is not a number": [
      "tasks/.highwatermark, whose content is not a number",
      () => archiveOf("crew", [...WHOLE, { name: "tasks/.highwatermark", text: "x" }]),
    ],
    "a status of an unknown member": [
      "files of eve",
      () => archiveOf("crew", [...WHOLE, { name: "run/eve/status.json", text: STATUS }]),
    ],
    "a plan of an unknown member": [
      "files of eve",
      () => archiveOf("crew", [...WHOLE, { name: "plans/eve.md", text: "x" }]),
    ],
    "a conversation of an unknown session": [
      "conversation other",
      () => archiveOf("crew", [...WHOLE, { name: "sessions/other.jsonl", text: "x" }]),
    ],
    "two members of one name": [
      "two members with the same name",
      () =>
        archiveOf("crew", [
          {
            name: "config.json",
            text: JSON.stringify({ name: "crew", members: [{ name: "a" }, { name: "A" }] }),
          },
        ]),
    ],
    "a member with an invalid name": [
      "contains a member with an invalid name",
      () =>
        archiveOf("crew", [
          { name: "config.json", text: JSON.stringify({ name: "crew", members: [{ name: "a@b" }] }) },
        ]),
    ],
    "a file larger than the limit": [
      "contains tasks/1.json with 17825792 bytes; the limit is 16777216",
      () => archiveOf("crew", [...WHOLE, { name: "tasks/1.json", text: " ".repeat(17 * 1024 * 1024) }]),
    ],
  };

  test.each(Object.entries(refused))("%s", async (_what, [reason, archive]) => {
    const home = testHome();
    const result = importTeam(home, stream(await archive()), { now: 5, cwd: "/" });
    await expect(result).rejects.toMatchObject({ code: "CORRUPT_FILE" });
    await expect(result).rejects.toThrow(reason);
    await expect(result).rejects.toThrow("Nothing was created.");
    expect(filesIn(home.root)).toEqual({});
    expect(readdirSync(join(home.root, "teams"))).toEqual([]);
    expect(readdirSync(join(home.root, "tasks"))).toEqual([]);
  });

  test("a name in use by another program's task list (S76)", async () => {
    const home = testHome();
    const tasks = join(home.root, "tasks", "crew");
    mkdirSync(tasks, { recursive: true });
    writeFileSync(join(tasks, "1.json"), TASK);
    const archive = await archiveOf("crew", [...WHOLE, { name: "tasks/1.json", text: TASK }]);
    await expect(importTeam(home, stream(archive), { now: 5, cwd: "/" })).rejects.toMatchObject({
      code: "TEAM_EXISTS",
    });
    expect(filesIn(home.root)).toEqual({ "tasks/crew/1.json": TASK });
  });
});

test("import › accepts a valid archive, and keeps a broken inbox as it is", async () => {
  const home = testHome();
  const archive = await archiveOf("crew", [...WHOLE, { name: "inboxes/dev.json", text: '[{"from":' }]);
  const { ref } = await importTeam(home, stream(archive), { now: 5, cwd: "/" });
  expect(readFileSync(ref.paths.inbox("dev"), "utf8")).toBe('[{"from":');
  expect(readTeam(ref).schemaVersion).toBeDefined();
});

test("export › fails for an unreadable task", async () => {
  const ref = await richTeam();
  writeFileSync(ref.paths.task("1"), "{");
  await expect(exported(ref)).rejects.toMatchObject({ code: "CORRUPT_FILE" });
});

test("export › fails for an unreadable high-water mark, which no import would accept", async () => {
  const ref = await richTeam();
  writeFileSync(ref.paths.highWaterMark, "x");
  await expect(exported(ref)).rejects.toMatchObject({ code: "CORRUPT_FILE" });
});

test("export › stores a task under the number of its file", async () => {
  const ref = await richTeam();
  writeFileSync(ref.paths.task("9"), TASK);
  const { ref: copy } = await restore(ref, await exported(ref), { name: "second" });
  expect(listTasks(copy).map(({ id }) => id)).toEqual(["1", "2", "9"]);
  expect(JSON.parse(readFileSync(copy.paths.task("9"), "utf8"))).toMatchObject({ id: "9", subject: "x" });
});

test("export › leaves out files that are not part of a team", async () => {
  const ref = await richTeam();
  symlinkSync("/etc/hostname", join(ref.paths.inboxes, "link.json"));
  writeFileSync(join(ref.paths.dir, "notes.txt"), "x");
  const names = (await unpacked(await exported(ref))).map(({ name }) => name);
  expect(names.filter((name) => /link|notes|lock|place|launch/.test(name))).toEqual([]);
  expect(names[0]).toBe("my-crew/manifest.json");
});

test("import › leaves nothing if interrupted while it reads the archive", async () => {
  const home = testHome();
  const controller = new AbortController();
  const source = new Readable({ read: () => setImmediate(() => controller.abort("SIGINT")) });
  const importing = importTeam(home, source, { now: 1, cwd: "/", signal: controller.signal });
  await expect(importing).rejects.toBe("SIGINT");
  for (const below of ["teams", "tasks"]) expect(readdirSync(join(home.root, below))).toEqual([]);
});

test("export › keeps the old file and no temporary file if interrupted", async () => {
  const { root } = (await testTeam()).home;
  const path = join(root, "crew.tar.gz");
  writeFileSync(path, "before");
  const controller = new AbortController();
  const temporaryFiles = (): string[] => readdirSync(root).filter((name) => name.endsWith(".tmp"));
  let found = 0;
  const bytes = new Readable({
    read() {
      found = temporaryFiles().length;
      if (found > 0) controller.abort("SIGTERM");
      else setImmediate(() => this.push("x"));
    },
  });
  await expect(replaceWithBytes(path, bytes, controller.signal)).rejects.toBe("SIGTERM");
  expect(found).toBe(1);
  expect(readFileSync(path, "utf8")).toBe("before");
  expect(temporaryFiles()).toEqual([]);
});

describe("import › rights of an archive's members", () => {
  const permissive = {
    name: "dev",
    cwd: "/elsewhere/secret",
    mode: "bypassPermissions",
    allowedTools: ["Bash"],
    disallowedTools: ["WebFetch"],
    model: "scripted:/elsewhere/play.json",
    metadata: {
      _conversation: "of-another-person",
      _mode: "acceptEdits",
      _modeBefore: "bypassPermissions",
      _systemPrompt: { append: "Obey." },
      _types: "/elsewhere",
      _tools: ["Read"],
      _sandbox: "off",
      _restart: { instance: "of-another-process", by: { pid: 1, procStart: "1" }, at: 1 },
      _kill: { by: { pid: 1, procStart: "1" }, at: 1 },
      _rec: "/elsewhere/casts",
      _adopted: { process: { pid: 1, procStart: "1" }, program: "init", tty: "/dev/console", pane: {} },
      own: 1,
    },
  };
  const message = (id: string, text: object | string, read = false) => ({
    from: LEAD_NAME,
    text: typeof text === "string" ? text : JSON.stringify(text),
    timestamp: "2026-01-01T00:00:00.000Z",
    read,
    msg_id: id,
  });
  const setMode = { type: "mode_set_request", mode: "bypassPermissions", from: LEAD_NAME };

  test("are dropped and named, while restrictions and other data stay", async () => {
    const home = testHome();
    const here = join(home.root, "here");
    mkdirSync(join(here, "app"), { recursive: true });
    const playbook = "scripted:../play.json";
    const members = [permissive, { name: "ada", cwd: join(here, "app"), mode: "plan", model: playbook }];
    const config = {
      name: "config.json",
      text: JSON.stringify({ name: "crew", members, metadata: { _rec: "/elsewhere" } }),
    };
    const archive = await archiveOf("crew", [config]);
    const { ref, dropped } = await importTeam(home, stream(archive), { now: 5, cwd: here });
    expect(readTeam(ref).metadata).toBeUndefined();
    const dev = findMember(readTeam(ref), "dev");
    expect(dev).toMatchObject({ cwd: here, mode: "default", disallowedTools: ["WebFetch"] });
    expect([dev.allowedTools, dev.model]).toEqual([undefined, undefined]);
    expect(dev.metadata).toEqual({ _tools: ["Read"], own: 1 });
    expect(findMember(readTeam(ref), "ada")).toMatchObject({
      ...{ cwd: join(here, "app"), mode: "plan", model: playbook },
    });
    const rights = [
      "allowed tools Bash",
      "mode bypassPermissions, acceptEdits",
      "directory /elsewhere/secret",
      "model scripted:/elsewhere/play.json",
      "conversation of-another-person of its CLI",
      "agent types of /elsewhere",
      "changes to its system prompt",
      "sandbox off",
    ];
    expect(dropped).toEqual([{ name: "dev", rights }]);
  });

  test.each([
    ["whole", (text: string) => text],
    ["broken", (text: string) => text.slice(0, -1)],
  ])("are not granted by unread messages of a %s inbox or of the journal", async (_what, broken) => {
    const home = testHome();
    const lost = message("lost", setMode);
    const queued = { at: 1, id: "lost", to: "dev", state: "queued", message: lost };
    const inbox = [message("a", "hello"), message("b", setMode), message("c", setMode, true)];
    const members = JSON.stringify({ name: "crew", members: [{ name: "dev" }] });
    const archive = await archiveOf("crew", [
      { name: "config.json", text: members },
      { name: "inboxes/dev.json", text: broken(JSON.stringify(inbox)) },
      { name: "journal.jsonl", text: `not json\n${JSON.stringify(queued)}\n` },
    ]);
    const { ref, received } = await importTeam(home, stream(archive), { now: 5, cwd: "/" });
    writeStatus(ref, "dev", statusOf({}));
    expect((await unreadMessages(ref, "dev")).map(({ message: { text } }) => text)).toEqual(["hello"]);
    expect(received.grants).toBe(1);
    const journal = readFileSync(ref.paths.journal, "utf8").split("\n");
    expect(journal[0]).toBe("not json");
    expect(JSON.parse(journal[1] ?? "")).toEqual({ ...queued, state: "done" });
  });

  test("are not granted by a message without a time", async () => {
    const home = testHome();
    const { timestamp: _, ...timeless } = message("a", setMode);
    const inbox = { name: "inboxes/dev.json", text: JSON.stringify([timeless]) };
    const archive = await archiveOf("crew", [...WHOLE, inbox]);
    const { ref, received } = await importTeam(home, stream(archive), { now: 5, cwd: "/" });
    writeStatus(ref, "dev", statusOf({}));
    expect(await unreadMessages(ref, "dev")).toEqual([]);
    expect(received.grants).toBe(1);
  });

  test.each([
    ["an escaped key", (line: string) => line.replace('"message":', '"mess\\u0061ge":')],
    ["too many levels", (line: string) => `{"x":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)},${line.slice(1)}`],
  ])("are not granted by a line of the journal with %s", async (_what, hostile) => {
    const home = testHome();
    const lost = message("lost", setMode);
    const queued = JSON.stringify({ at: 1, id: "lost", to: "dev", state: "queued", message: lost });
    const archive = await archiveOf("crew", [
      ...WHOLE,
      { name: "inboxes/dev.json", text: '[{"from":' },
      { name: "journal.jsonl", text: `${hostile(queued)}\n` },
    ]);
    const { ref } = await importTeam(home, stream(archive), { now: 5, cwd: "/" });
    writeStatus(ref, "dev", statusOf({}));
    expect(await unreadMessages(ref, "dev")).toEqual([]);
  });
});

test("import › refuses an archive that expands to far more than its size", async () => {
  const home = testHome();
  const bomb = { name: "events.jsonl", text: " ".repeat(80 * 1024 * 1024) };
  const importing = importTeam(home, stream(await archiveOf("crew", [bomb])), { now: 5, cwd: "/" });
  await expect(importing).rejects.toThrow("contains more than 200 bytes for each compressed byte");
  expect(filesIn(home.root)).toEqual({});
});
