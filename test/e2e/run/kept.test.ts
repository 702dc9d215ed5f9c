import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { livenessOfAgent } from "../../../src/team/records/read-records.ts";
import { type TeamRef, teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { type FakeReply, startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { type Line, scriptedTeam } from "../../support/model/scripted-team.ts";
import { startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { type Person, personInside } from "../../support/tmux/terminal-user.ts";

const CONTINUE = "To continue: teams run --resume --team crew";
const NO_CREDIT: FakeReply = {
  kind: "error",
  status: 400,
  type: "invalid_request_error",
  message: "This model is not available to you",
};

const uses = (name: string, input: object) => ({ name, input });
const tells = (recipient: string, content: string) =>
  uses("SendMessage", { type: "message", recipient, content, summary: "tells" });
const waitsFor = (file: string) =>
  uses("Bash", { command: `touch working; until [ -e ${file} ]; do sleep 0.1; done` });

/** A lead with two tasks; its teammate has begun the first. */
const LEAD: readonly Line[] = [
  {
    when: /Count the words/,
    uses: [
      uses("TaskCreate", { subject: "count them", description: "d" }),
      uses("TaskCreate", { subject: "count again", description: "d" }),
      uses("Agent", { name: "ann", prompt: "Begin.", description: "counts" }),
    ],
  },
  { when: /you are its lead from now on/, uses: [tells("ann", "Go on with both.")] },
  { when: /Both are counted/, says: "There are 3 words." },
  { when: /ann is idle/, says: "There are 3 words." },
  // This line is last: a lead that ends before it answers gets this and newer messages in one turn when it resumes.
  { when: /teammate_spawned/, says: "She counts." },
];
const ANN: readonly Line[] = [
  {
    when: /Begin\./,
    uses: [uses("TaskUpdate", { taskId: "1", owner: "ann", status: "in_progress" }), waitsFor("go")],
  },
  {
    when: /Go on with both/,
    uses: [
      uses("TaskUpdate", { taskId: "1", owner: "ann", status: "completed" }),
      uses("TaskUpdate", { taskId: "2", owner: "ann", status: "completed" }),
      tells(LEAD_NAME, "Both are counted."),
    ],
  },
];

interface World {
  readonly t: PrivateTmux;
  readonly ref: TeamRef;
  readonly teams: ReturnType<typeof teamsIn>;
  readonly env: { readonly ANTHROPIC_BASE_URL: string; readonly ANTHROPIC_API_KEY: string };
  readonly requests: Awaited<ReturnType<typeof startFakeMessagesApi>>["requests"];
  /** The arguments of the run. */
  readonly words: readonly string[];
  /** Makes the lead's model fail, or work again. */
  setBroken(value: boolean): void;
}

async function world(mode: string): Promise<World> {
  const t = privateTmux();
  const { script } = scriptedTeam({ [LEAD_NAME]: LEAD, ann: ANN });
  let isBroken = false;
  const api = await startFakeMessagesApi((request) => {
    const isFromLead = JSON.stringify(request.body.system).includes(`You are ${LEAD_NAME}`);
    return isBroken && isFromLead ? NO_CREDIT : script(request);
  });
  onTestFinished(() => api.close());
  const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
  const words = ["run", "--team", "crew", "--model", "claude-fake", "--no-sidebar", "--teammate-mode", mode];
  return {
    t,
    ref: teamRef(teamsHome(t.env), "crew"),
    teams: teamsIn({ ...t.env, ...env }, t.home),
    env,
    requests: api.requests,
    words: [...words, "--permission-mode", "bypassPermissions"],
    setBroken: (value) => {
      isBroken = value;
    },
  };
}

const atWork = ({ t }: World) => eventually("ann's command", () => existsSync(join(t.home, "working")));

/** Expects the team with its members and tasks, and without its processes. */
async function expectKept({ t, ref, teams }: World, states: readonly string[]): Promise<void> {
  const status = (await teams(["status", "--json"])).json<{ tasks: { list: object[] } }>();
  expect(status).toMatchObject({
    leadAlive: false,
    members: [
      { name: LEAD_NAME, alive: false },
      { name: "ann", alive: false, state: "exited" },
    ],
  });
  expect(status.tasks.list).toMatchObject(states.map((state) => ({ status: state })));
  expect(livenessOfAgent(ref, "ann")).toBe("dead");
  await leaves(t, { ...nothing(), panes: expect.anything(), teams: expect.anything() });
}

/** Resumes the run, and expects it to complete its work with the conversations of both agents. */
async function expectResumed(w: World): Promise<void> {
  const { t, teams, requests } = w;
  writeFileSync(join(t.home, "go"), "");
  w.setBroken(false);
  const asked = requests.length;
  const { code, err, json } = await teams(["run", "--resume", "--team", "crew", "--json"]);
  expect(code, err).toBe(0);
  expect(json()).toMatchObject({ team: "crew", outcome: "completed", result: expect.any(String) });
  expect(json()).not.toHaveProperty("resume");
  const later = requests.slice(asked).map(({ body }) => ({
    isAnn: JSON.stringify(body.system).includes("You are ann"),
    messages: JSON.stringify(body.messages),
  }));
  const first = (isAnn: boolean): string => later.find((one) => one.isAnn === isAnn)?.messages ?? "";
  expect(first(false)).toContain("Count the words");
  expect(first(false)).toContain("#1 (pending; owned by ann): count them");
  expect(first(true)).toContain("touch working");
}

describe("a run with unfinished work", () => {
  it("keeps the team after a model error, and run --resume completes it", async () => {
    const w = await world("tmux");
    const { child, ended } = startTeams(
      [...w.words, "--json", "Count the words"],
      { ...w.t.env, ...w.env },
      w.t.home,
    );
    let err = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    await atWork(w);
    w.setBroken(true);
    // ann's turn ends, and her idle notice starts the lead's failing turn.
    writeFileSync(join(w.t.home, "go"), "");
    expect(await ended).toBe(1);
    expect(JSON.parse(err.trim().split("\n").at(-1) ?? "")).toMatchObject({
      error: {
        code: "MODEL_ERROR",
        message: expect.stringContaining("not available to you"),
        hint: CONTINUE,
      },
    });
    await expectKept(w, ["pending", "pending"]);
    await expectResumed(w);
    await leaves(w.t, nothing());
  });

  it.each(["tmux", "in-process"])(
    "keeps the team on SIGTERM, and run --resume continues the interrupted turn (%s)",
    async (mode) => {
      const w = await world(mode);
      const { child, ended } = startTeams(
        [...w.words, "Count the words"],
        { ...w.t.env, ...w.env },
        w.t.home,
      );
      let out = "";
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        out += text;
      });
      await atWork(w);
      child.kill("SIGTERM");
      expect(await ended).toBe(130);
      expect(out.trim().split("\n").at(-1)).toBe(CONTINUE);
      await expectKept(w, ["pending", "pending"]);
      await expectResumed(w);
      await leaves(w.t, nothing());
    },
  );

  it.each([
    ["/exit", ["/exit", "Enter"]],
    ["Ctrl-D", ["C-d"]],
  ])("keeps the team on %s", async (_, keys) => {
    const w = await world("tmux");
    const person = personInside(w.t, [...w.words, "Count the words"], { env: w.env });
    await atWork(w);
    await person.sees("She counts.");
    person.type(...keys);
    expect(await person.code()).toBe(0);
    expect(person.screen()).toContain("stopping the team, which is kept; press Ctrl-C to exit now");
    expect(linesOf(person).slice(-3)).toEqual([
      "· the run is over; the team crew was kept",
      expect.stringMatching(/^(\d+ min )?\d+ s · [\d.]+k? tokens$/),
      CONTINUE,
    ]);
    await expectKept(w, ["pending", "pending"]);
    expect((await w.teams(["delete", "crew"])).code).toBe(0);
    await leaves(w.t, nothing(["work:cat"]));
  });

  it.each([
    ["/exit --delete", []],
    ["/exit", ["--rm"]],
  ])("deletes the team on %s with the options %j", async (typed, more) => {
    const w = await world("tmux");
    const person = personInside(w.t, [...w.words, ...more, "Count the words"], { env: w.env });
    await atWork(w);
    await person.sees("She counts.");
    person.type(typed, "Enter");
    await person.sees("the run is over; the team crew was deleted");
    expect(await person.code()).toBe(0);
    expect(person.screen()).not.toContain("To continue");
    await leaves(w.t, nothing(["work:cat"]));
  });

  it("keeps the team when the lead ends its work with an open task", async () => {
    const w = await world("process");
    const running = w.teams([...w.words, "-q", "Count the words"]);
    await atWork(w);
    writeFileSync(join(w.t.home, "go"), "");
    const { code, out } = await running;
    expect([code, out.trim().split("\n").at(-1)]).toEqual([0, CONTINUE]);
    await expectKept(w, ["pending", "pending"]);
    expect((await w.teams(["delete", "crew"])).code).toBe(0);
  });
});

it("model error on a terminal › leaves the lead at its prompt, where the next line tries again", async () => {
  const w = await world("process");
  w.setBroken(true);
  const person = personInside(w.t, [...w.words, "--once", "Count the words"], { env: w.env });
  await person.sees("is not available to you");
  await person.sees("type a line to try again");
  w.setBroken(false);
  person.type("Count the words now", "Enter");
  await person.sees("She counts.");
  writeFileSync(join(w.t.home, "go"), "");
  expect(await person.code()).toBe(0);
  expect(linesOf(person).at(-1)).toBe(CONTINUE);
  expect((await w.teams(["delete", "crew", "--force"])).code).toBe(0);
});

it("run --rm › is refused for a team that was led by hand, and with --keep", async () => {
  const w = await world("process");
  expect((await w.teams(["create", "crew"])).code).toBe(0);
  const refused = await w.teams(["run", "--resume", "--rm", "--model", "claude-fake", "--json"]);
  expect([refused.code, refused.error().message]).toEqual([2, expect.stringContaining("led by hand")]);
  const both = await w.teams(["run", "--rm", "--keep", "--json", "Go."]);
  expect([both.code, both.error().code]).toEqual([2, "INVALID_INPUT"]);
  expect(w.requests).toEqual([]);
  expect(readFileSync(w.ref.paths.config, "utf8")).toContain("crew");
});

/** Returns the non-empty lines of a terminal. */
function linesOf(person: Person): string[] {
  return person
    .screen()
    .split("\n")
    .flatMap((line) => line.trimEnd() || []);
}
