import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TeamEvent } from "../../../src/schema/event.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";
import { eventually } from "../../support/timing/eventually.ts";

async function team(): Promise<Cli> {
  const teams = cliIn();
  await teams(["create", "review"]);
  await teams(["task", "add", "one"]);
  await teams(["send", "team-lead", "hello", "--as", "team-lead"]);
  return teams;
}

describe("teams events", () => {
  it("prints one line per event, and the file's objects with --json", async () => {
    const teams = await team();
    const lines = (await teams(["events"])).out.trim().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\d [\d:.]+ team-lead task #1 created: pending$/),
      expect.stringMatching(/ team-lead message to team-lead, 5 characters$/),
    ]);
    const { events } = (await teams(["events", "review", "--json"])).json<{ events: TeamEvent[] }>();
    expect(events).toMatchObject([
      { type: "task", team: "review", taskId: "1" },
      { type: "message", agentId: "team-lead@review" },
    ]);
  });

  it("filters by type and time", async () => {
    const teams = await team();
    const types = async (...words: string[]) =>
      (await teams(["events", "--json", ...words]))
        .json<{ events: TeamEvent[] }>()
        .events.map(({ type }) => type);
    expect(await types("--type", "task")).toEqual(["task"]);
    expect(await types("--type", "task", "--type", "message")).toEqual(["task", "message"]);
    expect(await types("--since", "2999-01-01")).toEqual([]);
    expect((await teams(["events", "--type", "nonsense"])).code).toBe(2);
    expect((await teams(["events", "--type", "model"])).out).toBe("No events.\n");
  });

  it("follows with -f, one object per line", async () => {
    const teams = await team();
    const stop = new AbortController();
    let out = "";
    const following = teams(["events", "-f", "--json"], {
      signal: stop.signal,
      onOut: (text) => {
        out += text;
      },
    });
    await eventually("the earlier events", () => out.split("\n").length === 3);
    await teams(["task", "add", "two"]);
    await eventually("the new event", () => out.split("\n").length === 4);
    stop.abort();
    expect((await following).code).toBe(130);
    const types = out
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text).type);
    expect(types).toEqual(["task", "message", "task"]);
  });
});

const FOLLOWING = ["events -f", "inbox dev -f", "logs dev -f"];

describe("a command that follows a team", () => {
  it.each(FOLLOWING)("%s › ends when the team is deleted", async (words) => {
    const teams = await team();
    const ref = teamRef(teamsHome(teams.env), "review");
    await addMembers(ref, [{ name: "dev", cwd: teams.directory }]);
    await teams(["send", "dev", "hello"]);
    const transcript = join(teams.directory, "dev.jsonl");
    const message = { role: "assistant", content: [{ type: "text", text: "hello" }] };
    writeFileSync(transcript, `${JSON.stringify({ type: "assistant", message })}\n`);
    writeStatus(ref, "dev", statusOf({ process: deadProcess(), transcript }));
    let out = "";
    const following = teams(words.split(" "), {
      onOut: (text) => {
        out += text;
      },
    });
    await eventually("the first output", () => out !== "");
    await teams(["delete", "review", "--force"]);
    const { code, err } = await following;
    expect([code, err]).toEqual([3, expect.stringContaining("There is no team review.")]);
  });
});
