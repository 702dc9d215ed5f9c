import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const ask = { name: "AskUserQuestion", input: { question: "What next?" } };
const write = (file: string) => ({ name: "Write", input: { file_path: file, content: "kept" } });

const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      {
        on: { contains: "first goal" },
        tools: [{ name: "TaskCreate", input: { subject: "Look around" } }, ask],
      },
      { say: "I wait for a word." },
      { on: { contains: "second goal" }, tools: [write("refused.md"), ask] },
      { say: "It was refused." },
      { on: { contains: "/etc/hosts" }, tools: [write("written.md")] },
      { say: "All is done." },
    ],
  },
};

it("typed commands › switch delegate mode, list tasks and status, and accept more goals", async () => {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const mode = ["--permission-mode", "bypassPermissions"];
  const words = ["run", "--once", "--playbook", "play.json", ...mode, "--no-sidebar"];
  const person = personInside(t, [...words, "first goal"]);
  await person.sees("I wait for a word.");
  person.type("/tasks", "Enter");
  await person.sees(/#1 .*Look around/);
  person.type("/status", "Enter");
  await person.sees(/0 of 1 tasks done/);
  person.type("/nonsense", "Enter");
  await person.sees("there is no /nonsense");
  person.type("/delegate", "Enter");
  await person.sees("permission mode is now delegate");
  person.type("second goal", "Enter");
  await person.sees("It was refused.");
  expect(existsSync(join(t.home, "refused.md"))).toBe(false);
  // BTab is tmux's name of Shift+Tab. The run's first mode comes after delegate.
  person.type("BTab");
  await person.sees(/^bypassPermissions [›>]/m);
  expect(person.screen()).not.toContain("permission mode is now bypassPermissions");
  person.type("/etc/hosts is the third", "Enter");
  await person.sees("All is done.");
  expect(await person.code()).toBe(0);
  expect(existsSync(join(t.home, "written.md"))).toBe(true);
});

it.each([
  ["/exit", ["/exit", "Enter"]],
  ["Ctrl-D", ["C-d"]],
])("run without a goal › waits for goals until %s ends it", async (_, keys) => {
  const t = privateTmux();
  const says = (text: string) => ({ kind: "message" as const, blocks: [{ type: "text" as const, text }] });
  const api = await startFakeMessagesApi([says("Which file?"), says("Three words.")]);
  onTestFinished(() => api.close());
  const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
  const person = personInside(t, ["run", "--team", "crew", "--no-sidebar"], { env });
  await person.sees("type a goal for the team");
  person.type("/status", "Enter");
  await person.sees("no tasks");
  expect(api.requests).toEqual([]);
  person.type("count the words", "Enter");
  await person.sees("Which file?");
  // A discarded line is not a goal, and does not end the run.
  person.type("some other");
  await person.sees("› some other");
  person.type("C-c");
  await person.sees(/^› *\n*$/m);
  person.type("the first one", "Enter");
  await person.sees("Three words.");
  // The next Ctrl-C only warns: it is unrelated to the first.
  person.type("C-c");
  await person.sees("Ctrl-C once more ends the run");
  person.type(...keys);
  await person.sees("the run is over; the team crew was kept");
  await person.sees("To continue: teams run --resume --team crew");
  expect(await person.code()).toBe(0);
  const asked = api.requests.map(({ body }) => JSON.stringify(body.messages.at(-1)));
  expect(asked).toEqual([
    expect.stringContaining("count the words"),
    expect.stringMatching(/(?<!some other.*)the first one/),
  ]);
  expect(JSON.stringify(api.requests[0]?.body.system)).toContain("The person types goals");
  expect((await teamsIn(t.env, t.home)(["delete", "crew"])).code).toBe(0);
  await leaves(t, nothing(["work:cat"]));
});

it("run --delegate › gives teammates the given mode, and only coordinates itself (S53)", async () => {
  const t = privateTmux();
  const playbook = {
    version: 1,
    agents: {
      "team-lead": [
        {
          on: { contains: "goal" },
          tools: [write("lead.md"), { name: "Agent", input: { name: "ada", prompt: "Write it." } }],
        },
        { on: { contains: "is ready" }, say: "She writes." },
        { on: { contains: "It is written" }, say: "Ended well." },
      ],
      ada: [{ on: { contains: "Write it." }, tools: [write("ada.md")] }, { say: "It is written." }],
    },
  };
  writeFileSync(join(t.home, "play.json"), JSON.stringify(playbook));
  const words = [
    "run",
    "--playbook",
    "play.json",
    "--permission-mode",
    "acceptEdits",
    "--delegate",
    "--no-sidebar",
    "--once",
  ];
  const person = personInside(t, [...words, "the goal"]);
  await person.sees("Ended well.");
  expect(await person.code()).toBe(0);
  // The mode applied from the first call.
  expect(person.screen()).not.toContain("permission mode is now");
  expect([existsSync(join(t.home, "lead.md")), existsSync(join(t.home, "ada.md"))]).toEqual([false, true]);
});

it("typing while the lead answers › appears below its text, marked as queued", async () => {
  const t = privateTmux();
  const words = "one two three four five six seven eight nine ten ".repeat(8).trim();
  let finishAnswer = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    finishAnswer = resolve;
  });
  const slow = { kind: "message" as const, blocks: [{ type: "text" as const, text: words }], until };
  const done = { kind: "message" as const, blocks: [{ type: "text" as const, text: "Heard." }] };
  const api = await startFakeMessagesApi([slow, done]);
  onTestFinished(() => api.close());
  const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
  const person = personInside(t, ["run", "--team", "crew", "--no-sidebar"], { env });
  await person.sees("type a goal for the team");
  person.type("speak", "Enter");
  await person.sees("one two");
  person.type("half a li");
  await person.sees(/^› half a li$/m);
  person.type("ne", "Enter");
  await person.sees(/^› half a line {2}\(queued\)$/m);
  finishAnswer();
  await person.sees("Heard.");
  const screen = t.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", person.pane);
  expect(screen.replace(/\s+/g, " ")).toContain(`${words} › half a line Heard.`);
  expect(screen).not.toContain("(queued)");
  person.type("C-d");
  expect(await person.code()).toBe(0);
});

it("run --quiet › still shows a permission request, and accepts the answer", async () => {
  const t = privateTmux();
  const agents = { "team-lead": [{ tools: [write("asked.md")] }, { say: "Written." }] };
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents }));
  const person = personInside(t, ["run", "--playbook", "play.json", "--quiet"]);
  await person.sees(/teams: The lead asks to run Write\(asked\.md\): teams approve perm-/);
  const isWritten = (): boolean => existsSync(join(t.home, "asked.md"));
  // A line begun too soon does not answer the request, and the pane says so.
  const tooSoon = (): number => person.screen().split("type it again").length;
  while (!isWritten()) {
    const before = tooSoon();
    person.type("y", "Enter");
    await eventually("the file, or a warning", () => isWritten() || tooSoon() > before);
  }
  expect(await person.code()).toBe(0);
  expect(person.screen()).toMatch(/\nWritten\.\s*$/);
});

it("run › works on a terminal without a known size", async () => {
  const t = privateTmux();
  const agents = { "team-lead": [{ say: "All is done." }] };
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents }));
  const pane = t.tmux(
    ...["new-session", "-d", "-s", "work", "-c", t.home, "-P", "-F", "#{pane_id}"],
    ...["--", "/bin/sh", "-c", 'stty cols 0 rows 0; "$@"; echo "ended with $?"; exec cat', "sh"],
    ...[process.execPath, TEAMS, "run", "--once", "--playbook", "play.json", "--no-sidebar"],
    ...[";", "set-option", "-t", "=work:", "destroy-unattached", "off"],
  );
  const screen = (): string => t.tmux("capture-pane", "-p", "-t", pane);
  await eventually("the end of the run", () => screen().includes("ended with 0"));
  expect(screen()).toContain("All is done.");
});

it("overlong pasted text › is reported, and its kept part can be discarded", async () => {
  const t = privateTmux();
  const agents = { "team-lead": [{ tools: [ask] }, { say: "I wait for a word." }] };
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents }));
  const person = personInside(t, ["run", "--playbook", "play.json", "--no-sidebar"]);
  await person.sees("I wait for a word.");
  writeFileSync(join(t.home, "long"), "z".repeat(150_000));
  t.tmux("load-buffer", join(t.home, "long"));
  t.tmux("paste-buffer", "-p", "-t", person.pane);
  await person.sees("A line can have at most 100,000 characters");
  person.type("C-c");
  await person.sees(/^›$/m);
  await person.endsRun();
  expect(await person.code()).toBe(130);
});
