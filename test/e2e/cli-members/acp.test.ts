import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { testMemberContract } from "../../support/cli/member-contract.ts";
import { memberTeam } from "../../support/cli/member-team.ts";
import { git } from "../../support/files/git.ts";
import { recordTrust } from "../../support/files/trust-record.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { describeInSandbox } from "../../support/sandbox/sandboxed-agent.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { userAt } from "../../support/tmux/terminal-user.ts";

const file = scriptFile("cli/acp");
const ADAPTER = { channel: "acp", resume: "load", modes: { default: "ask" } } as const;

testMemberContract({
  adapter: ADAPTER,
  file,
  conversation: ["session/new", "session/load"],
});

const team = (settings: Readonly<Record<string, unknown>> = {}) =>
  memberTeam(file(), ADAPTER, "process", settings);

describe("a CLI over the Agent Client Protocol", () => {
  it("works like any other member: first message, mode, last words, tokens, cost", async () => {
    const { spawn, state, log, logged, inbox, teams, repo } = await team();
    const spawned = await spawn("say: hello from the other make\ncost: 0.25");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await eventually("the idle notice", async () => (await inbox()).includes("hello from the other make"));
    await state("ada", "idle");
    await logged({ mode: "ask" });
    expect(log()[0]).toMatchObject({ cwd: repo });
    const [first] = log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
    expect(first).toMatch(/You are ada, a teammate in the team "crew"[\s\S]*say: hello/);
    await teams("send", "ada", "say: second");
    await eventually("the second notice", async () => (await inbox()).includes("second"));
    const { members } = (await teams("status", "--json")).json<{ members: Record<string, unknown>[] }>();
    expect(members.find(({ name }) => name === "ada")).toMatchObject({
      model: "fake",
      tokens: { input: 20, output: 10 },
      costUsd: 0.25,
    });
    const prompts = log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
    expect(prompts[1]).not.toContain("You are ada");
  });

  it("counts the tokens of a failed prompt and of the next prompt", async () => {
    const { spawn, teams, inbox, leadGot } = await team();
    await spawn("spend: 8\nfail: it broke");
    await eventually("the failure", async () => (await inbox()).includes("it broke"));
    await teams("send", "ada", "say: second");
    await leadGot("second");
    const { members } = (await teams("status", "--json")).json<{ members: Record<string, unknown>[] }>();
    expect(members.find(({ name }) => name === "ada")).toMatchObject({ tokens: { input: 18, output: 5 } });
  });

  it("says in its pane that it chooses its model and keeps its conversation itself", async () => {
    const { spawn, state, place, paneShowing, log } = await memberTeam(file(), ADAPTER, "tmux");
    await spawn("say: hello from the other make");
    const ada = userAt(place, await paneShowing("hello from the other make"));
    await state("ada", "idle");
    const prompts = () => log().filter(({ prompt }) => prompt !== undefined).length;
    expect(prompts()).toBe(1);
    ada.type("/model opus", "Enter");
    await ada.sees("fake chooses its model itself; the model was not changed.");
    ada.type("/compact", "Enter");
    await ada.sees("fake keeps its own conversation, which was not compacted.");
    ada.type("/clear", "Enter");
    await ada.sees("fake keeps its own conversation, which was not cleared.");
    ada.type("/nonsense", "Enter");
    await ada.sees("there is no /nonsense");
    expect(prompts()).toBe(1);
    ada.type("say: again", "Enter");
    await ada.sees(/^again$/m);
  });

  it("continues its turn with the reasons if the turn ends after a refusal", async () => {
    const { spawn, state, approval, teams, log } = await team({
      permissions: { deny: ["Bash(touch denied:*)"] },
    });
    const prompts = () => log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
    await spawn("run: touch refused\nrun: touch denied");
    expect((await teams("reject", (await approval()).id, "--note", "not now")).code).toBe(0);
    await eventually("the reasons", () => prompts().length === 2);
    expect(prompts()[1]).toMatch(/Bash\(touch denied\): .*touch denied/);
    // The turn went on after this refusal, but a person gave its reason.
    expect(prompts()[1]).toContain("Bash(touch refused): not now");
    await teams("send", "ada", "run: touch again");
    expect((await teams("reject", (await approval()).id, "--note", "never")).code).toBe(0);
    await eventually("the reason", () => prompts().at(-1)?.includes("Bash(touch again): never"));
    await state("ada", "idle");
    await teams("send", "ada", "run: touch denied\nsay: without it");
    await eventually("the turn", () => prompts().at(-1)?.includes("without it"));
    await state("ada", "idle");
    expect(prompts()).toHaveLength(5);
  });

  it("asks through teams approvals, gets the answer, and lets rules decide without a person", async () => {
    const { spawn, state, approval, teams, repo, logged } = await team({
      permissions: { allow: ["Bash(touch ruled:*)"], deny: ["Bash(touch denied:*)"] },
    });
    await spawn("run: touch asked\nrun: touch ruled\nrun: touch denied\nedit: file.txt");
    const first = await approval();
    expect(first.summary).toBe("Bash(touch asked)");
    expect((await teams("approve", first.id)).code).toBe(0);
    const edit = await eventually("the edit", async () => {
      const next = await approval();
      return next.id === first.id ? undefined : next;
    });
    expect(edit.summary).toContain("file.txt");
    expect((await teams("approvals", edit.id)).out).toContain("+ new text");
    expect((await teams("reject", edit.id)).code).toBe(0);
    await state("ada", "idle");
    expect(["asked", "ruled", "denied", "file.txt"].map((name) => existsSync(join(repo, name)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    await logged({ outcome: { outcome: "selected", optionId: "no" } });
  });

  it("shows its form as a question in teams approvals, and takes the answer", async () => {
    const { spawn, state, teams, approval, logged, leadGot } = await team();
    await spawn("question\nsay: was answered");
    const first = await approval();
    expect(first).toMatchObject({ kind: "question", summary: "Deploy? [Here / There]" });
    await state("ada", "needs-input");
    await teams("approve", first.id, "--note", "2");
    await logged({ elicited: { action: "accept", content: { place: "t" } } });
    await leadGot("was answered");
  });

  it("declines its form when a person rejects the question", async () => {
    const { spawn, teams, approval, logged, leadGot } = await team();
    await spawn("question\nsay: was declined");
    await teams("reject", (await approval()).id);
    await logged({ elicited: { action: "decline" } });
    await leadGot("was declined");
  });

  it("has its form cancelled, with a note, if teams cannot show the fields", async () => {
    const { spawn, teams, logged, leadGot } = await team();
    await spawn("nested-question\nsay: went on");
    await logged({ elicited: { action: "cancel" } });
    await leadGot("went on");
    await eventually("the note", async () =>
      (await teams("peek", "ada")).out.includes("fake sent a form with fields that teams cannot show"),
    );
  });

  it("tolerates bad output: junk, half a line, 10 MB, late tools, requests after the end, options without kinds", async () => {
    const { spawn, state, approval, teams, log, inbox, logged } = await team();
    await spawn("junk\nhalf\nbig\nlate\nafter\nsay: still here");
    await eventually("the end of the turn", async () => (await inbox()).includes("still here"));
    await logged({ outcome: { outcome: "cancelled" } });
    await state("ada", "idle");
    await teams("send", "ada", "no-kinds: touch never\nsay: refused it");
    await teams("approve", (await approval()).id);
    await eventually("the end of the turn", async () => (await inbox()).includes("refused it"));
    expect(log().filter(({ outcome }) => JSON.stringify(outcome)?.includes("always"))).toEqual([]);
  });

  it("continues its conversation after a crash, without repeating its earlier answers", async () => {
    const { spawn, state, teams, log, inbox, leadGot } = await team();
    await spawn("say: remember 42");
    await leadGot("remember 42");
    await teams("send", "ada", "exit: 3");
    await state("ada", "crashed");
    const { out } = await teams("status", "--json");
    expect(out).toContain("these are its last words");
    const resumed = await teams("resume");
    expect(resumed.code).toBe(0);
    await eventually("the session", () => log().some((line) => "session/load" in line));
    const ids = log().flatMap((line) => [line["session/new"], line["session/load"]].filter(Boolean));
    expect(new Set(ids).size).toBe(1);
    expect(await inbox()).not.toContain("replayed");
  });

  it("gets the text of its turn again after a crash, if it cannot continue its conversation", async () => {
    const own = await memberTeam(file(), { channel: "acp", modes: ADAPTER.modes }, "process");
    const { spawn, state, teams, log, prompted } = own;
    const ada = async () => {
      const { members } = (await teams("status", "--json")).json<{
        members: { name: string; pid: number; unread: number }[];
      }>();
      return members.find(({ name }) => name === "ada");
    };
    await spawn("say: begins\nstay\nsay: the whole task");
    await prompted("the whole task");
    // Once the message is read, the inbox does not deliver it again.
    await eventually("ada's message to be read", async () => (await ada())?.unread === 0);
    process.kill((await ada())?.pid ?? 0, "SIGKILL");
    await state("ada", "crashed");
    expect((await teams("resume")).code).toBe(0);
    const prompts = () => log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
    await eventually("the turn of the new process", () => prompts().length > 1);
    expect(prompts()[1]).toMatch(/You are ada[\s\S]*lost your conversation[\s\S]*say: the whole task/);
  });

  it("is shown as crashed when it closes its connection, although its process still runs", async () => {
    const { spawn, state, teams, leadGot } = await team();
    await spawn("say: ready");
    await leadGot("ready");
    await teams("send", "ada", "hang-up");
    await state("ada", "crashed");
    await eventually("the reason", async () =>
      (await teams("status", "--json")).out.includes("fake has ended: its connection was lost"),
    );
  });

  it("is not started when its program ends at once", async () => {
    const { mark, spawn, state, ada } = await team();
    mark("broken");
    const spawned = await spawn("say: hi");
    if (spawned.code === 0) await state("ada", "crashed");
    const reason = "fake did not start: it ended with exit code 1";
    await eventually(reason, async () => `${spawned.err}${JSON.stringify(await ada())}`.includes(reason));
  });

  it("is not started if it speaks only another version of the protocol", async () => {
    const { mark, spawn, state, ada, log } = await team();
    mark("newer-protocol");
    const spawned = await spawn("say: hi");
    if (spawned.code === 0) await state("ada", "crashed");
    const reason = "it speaks version 2 of the Agent Client Protocol, but teams needs version 1";
    // The cause is recorded a moment after the crash.
    await eventually(reason, async () => `${spawned.err}${JSON.stringify(await ada())}`.includes(reason));
    expect(log()).toEqual([]);
  });

  it("gets an answer to its open request when its turn is interrupted", async () => {
    const { spawn, state, approval, approvals, teams, logged, leadGot, repo } = await team();
    await spawn("run: touch asked\nsay: its turn ended by itself");
    await approval();
    expect((await teams("interrupt", "ada")).code).toBe(0);
    await logged({ outcome: { outcome: "cancelled" } });
    await leadGot("its turn ended by itself");
    await state("ada", "idle");
    expect([await approvals(), existsSync(join(repo, "asked"))]).toEqual([[], false]);
  });

  it("keeps running when it refuses a shutdown, and its reason is in the output", async () => {
    const { spawn, teams, leadGot, state } = await team();
    await spawn("stubborn\nsay: ready");
    await leadGot("ready");
    const refused = await teams("shutdown", "ada", "--timeout", "180", "--json");
    expect([refused.code, refused.json()]).toMatchObject([
      1,
      { shutdowns: [{ name: "ada", outcome: "rejected", reason: "not finished" }] },
    ]);
    await state("ada", "idle");
    await teams("send", "ada", "say: still here");
    await leadGot("still here");
  });

  it("waits when another member has reached the limit of their account, with one notice for both", async () => {
    const { spawn, state, teams, leadGot, inbox, log } = await team({ teams: { autoResume: false } });
    await spawn("say: ada is ready");
    await leadGot("ada is ready");
    const place = ["--teammate-mode", "process"];
    await teams("spawn", "bob", "--cli", "fake", "--prompt", "say: bob is ready", ...place);
    await leadGot("bob is ready");
    await teams("send", "ada", "limit: 3600");
    await state("ada", "paused");
    await teams("send", "bob", "say: bob was here");
    await state("bob", "paused");
    expect(JSON.stringify(log())).not.toContain("bob was here");
    expect((await inbox()).split("The limit of the model's account is reached")).toHaveLength(2);
    for (const name of ["ada@crew", "bob@crew"]) expect((await teams("resume", "--now", name)).code).toBe(0);
    await leadGot("bob was here");
    await state("ada", "idle");
  });

  it("starts a new conversation if it has lost the earlier one", async () => {
    const { spawn, state, teams, log, place, inbox, leadGot } = await team();
    await spawn("say: remember 42");
    await leadGot("remember 42");
    const { members } = (await teams("status", "--json")).json<{
      members: { name: string; pid: number }[];
    }>();
    process.kill(members.find(({ name }) => name === "ada")?.pid ?? 0, "SIGKILL");
    await state("ada", "crashed");
    const [session] = log().flatMap((line) => ("session/new" in line ? [line["session/new"]] : []));
    rmSync(join(place.home, "stand-in-fake", `${session}.json`));
    expect((await teams("resume")).code).toBe(0);
    await teams("send", "ada", "say: I am back");
    await eventually("ada's answer", async () => (await inbox()).includes("I am back"));
  });

  it("works without the team's tools if it never connects to them, and the lead gets the remedy", async () => {
    const { spawn, mark, state, ada, leadGot, inbox } = await memberTeam(
      file(),
      { ...ADAPTER, firstMessageAfter: "tools", withoutTools: "trust the directory" },
      "process",
    );
    mark("late-tools");
    const spawned = spawn("say: without them");
    await eventually("the state needs-input", async () => (await ada())?.state === "needs-input");
    expect((await ada())?.activity).toBe("it has not connected to the team's tools: trust the directory");
    await eventually("ada's answer", async () => (await inbox()).includes("without them"));
    await spawned;
    await leadGot("ada cannot use the team's tools. fake has not connected");
    expect(await inbox()).toContain("To fix this: trust the directory.");
    await state("ada", "idle");
  });

  it("gets its trust variables only in a directory that the person trusts", async () => {
    const trusted = { ...ADAPTER, trustedEnv: { STANDIN_TRUST: "yes" } };
    const { spawn, teams, leadGot, logged, log, repo, place } = await memberTeam(file(), trusted, "process");
    await spawn("say: hi");
    await leadGot("hi");
    expect(log()[0]).not.toHaveProperty("trust");
    recordTrust(place.root, repo);
    await teams("spawn", "bob", "--cli", "fake", "--prompt", "say: hi", "--teammate-mode", "process");
    await logged({ trust: "yes" });
  });

  it("works in the directory of --cwd, or in its own worktree with --worktree", async () => {
    const { spawn, teams, leadGot, log, repo } = await team({ permissions: { allow: ["Bash(touch here)"] } });
    git(repo, "init", "--quiet");
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "first");
    const sub = join(repo, "sub");
    mkdirSync(sub);
    const spawned = await spawn("run: touch here\nsay: below it", "--cwd", "sub");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await leadGot("below it");
    const words = ["--prompt", "run: touch here\nsay: beside it", "--teammate-mode", "process"];
    const second = await teams("spawn", "bob", "--cli", "fake", "--worktree", ...words, "--json");
    expect([second.code, second.err]).toEqual([0, ""]);
    await leadGot("beside it");
    const { worktree } = second.json<{ worktree: string }>();
    expect(git(worktree, "branch", "--show-current")).toBe("teams/crew/bob");
    expect(log().flatMap(({ cwd }) => (cwd === undefined ? [] : [cwd]))).toEqual([sub, worktree]);
    const made = [repo, sub, worktree].map((directory) => existsSync(join(directory, "here")));
    expect(made).toEqual([false, true, true]);
  });

  it("is not started if its program is missing, or with an option that it does not support", async () => {
    const { spawn, teams } = await team();
    const unknown = await teams("spawn", "bob", "--cli", "nothing", "--json");
    expect(unknown.error()).toMatchObject({ code: "INVALID_INPUT", hint: expect.stringContaining("gemini") });
    const noAcp = await teams("spawn", "bob", "--cli", "fake", "--acp", "--json");
    expect(noAcp.error().message).toContain('"fake-acp"');
    const noNative = await teams("spawn", "bob", "--cli", "fake", "--native", "--json");
    expect(noNative.error().message).toContain('"fake-native"');
    const missing = await teams("spawn", "bob", "--cli", "goose", "--json");
    expect(missing.error()).toMatchObject({
      code: "SPAWN_FAILED",
      message: expect.stringContaining("not installed"),
    });
    expect((await spawn("x", "--tools", "Read", "--json")).error()).toMatchObject({ code: "INVALID_INPUT" });
  });
});

describeInSandbox("a CLI that runs as a whole inside the sandbox", () => {
  it("can write only its login and its directory; a request says that its command runs in the sandbox", async () => {
    const { spawn, state, approval, teams, repo, place, inbox } = await team();
    const out = join(place.home, "outside");
    const key = join(place.home, ".ssh", "id_ed25519");
    mkdirSync(dirname(key));
    writeFileSync(key, "TOP SECRET");
    const command = `touch inside ${out}; cat ${key}; true`;
    const spawned = await spawn(`run: ${command}\nsay: done it`, "--sandbox", "required");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    const { id } = await approval();
    expect((await teams("approvals", id)).out).toContain("The command runs in the sandbox.");
    await teams("approve", id);
    await eventually("the end of the turn", async () => (await inbox()).includes("done it"));
    await state("ada", "idle");
    // The stand-in wrote its log into the login directory, which it could read and write.
    expect([existsSync(join(repo, "inside")), existsSync(out)]).toEqual([true, false]);
    expect((await teams("logs", "ada", "--raw")).out).not.toContain("SECRET");
    expect((await teams("logs", "ada")).out).not.toContain("SECRET");
  });
});
