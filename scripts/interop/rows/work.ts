import { until } from "../team/wait.ts";
import { check, interruptNotices, type Row } from "./row.ts";

/** Turns: state, messages, tasks, tools, interrupt, typed turns. */
export const WORK: readonly Row[] = [
  {
    id: "state",
    text: "state: `running` in a turn, `idle` after it",
    async run({ crew, program, ada, tell }) {
      await ada();
      const word = crew.word("state");
      await tell(crew.linger(6), `do-say: ${word}`);
      const running = await crew.state("ada", "running");
      await crew.turnEnded(word);
      const idle = await crew.state("ada", "idle");
      if (program.channel !== "inbox") return;
      const sources = [running.stateFrom, idle.stateFrom];
      check(sources.every(Boolean), "a state has no source", sources);
    },
  },
  {
    id: "notice",
    text: "idle notice with its last words",
    async run({ crew, ada, tell }) {
      await ada();
      const word = crew.word("notice");
      await tell(`do-say: the ${word} of it`);
      await crew.leadGot(`the ${word} of it`);
    },
  },
  {
    id: "messages",
    text: "messages from the lead and to the lead",
    async run({ crew, ada, tell }) {
      await ada();
      const word = crew.word("message");
      await tell(`do-send: team-lead ${word} for the lead`, "do-say: sent it");
      await crew.leadGot(`${word} for the lead`);
      await crew.state("ada", "idle");
    },
  },
  {
    id: "peer",
    text: "messages to another member and from it",
    limit: 120_000,
    async run({ crew, ada, spawn, tell }) {
      await ada();
      await spawn("bob", "do-say: bob is here");
      await crew.turnEnded("bob is here");
      await crew.state("bob", "idle");
      const word = crew.word("peer");
      await tell(`do-send: bob do-send: ada do-say: ${word} came back`, "do-say: sent it");
      await crew.turnEnded(`${word} came back`, 60_000);
      await crew.ok("kill", "bob", "--force");
    },
  },
  {
    id: "tasks",
    text: "claims a task and completes it",
    async run({ crew, ada, tell }) {
      await ada();
      const word = crew.word("task");
      const { task } = await crew.json<{ task: { id: string } }>("task", "add", word);
      const { id: taskId } = task;
      const update = (more: object): string => `do-tool: TaskUpdate ${JSON.stringify({ taskId, ...more })}`;
      await tell(
        update({ owner: "ada", status: "in_progress" }),
        update({ status: "completed" }),
        `do-say: ${word} is done`,
      );
      await crew.turnEnded(`${word} is done`);
      const shown = await crew.json<{ task: { status: string; owner?: string } }>("task", "show", taskId);
      const isDone = shown.task.status === "completed" && shown.task.owner === "ada";
      check(isDone, "the task is not completed by ada", shown.task);
    },
  },
  {
    id: "mcp",
    text: "a team tool over MCP, without a request",
    async run({ crew, ada, tell }) {
      await ada();
      const word = crew.word("made");
      await tell(
        `do-tool: mcp:TaskCreate ${JSON.stringify({ subject: word, description: "d" })}`,
        `do-say: ${word} said`,
      );
      await crew.turnEnded(`${word} said`);
      const { tasks } = await crew.json<{ tasks: { subject: string }[] }>("task", "list");
      check(
        tasks.some(({ subject }) => subject === word),
        `no task; the model got: ${crew.lastResult()}`,
      );
    },
  },
  {
    id: "interrupt",
    text: "`teams interrupt` ends its turn, and a new message starts the next one",
    async run({ crew, ada, tell }) {
      await ada();
      await tell(crew.linger(600), "do-say: it slept");
      await crew.state("ada", "running");
      await until("the start of its command", () => crew.processes("linger 600").length > 0);
      await crew.ok("interrupt", "ada");
      await crew.state("ada", "idle");
      const word = crew.word("after");
      await tell(`do-say: ${word}`);
      await crew.turnEnded(word);
    },
  },
  {
    id: "command",
    text: "an interrupt ends its command too",
    async run({ crew, ada, tell }) {
      await ada();
      await tell(crew.linger(650), "do-say: it slept");
      await until("the start of its command", () => crew.processes("linger 650").length > 0);
      await crew.ok("interrupt", "ada");
      await until("the end of its command", () => crew.processes("linger 650").length === 0, 10_000);
    },
  },
  {
    id: "escape",
    text: "an interrupt in its own screen is seen, and the lead is notified",
    async run({ crew, program, ada, tell }) {
      const { paneId } = await ada();
      const before = await interruptNotices(crew, "ada");
      await tell(crew.linger(620), "do-say: it slept");
      await crew.state("ada", "running");
      await until("the start of its command", () => crew.processes("linger 620").length > 0);
      crew.tmux("send-keys", "-t", paneId ?? "", ...(program.interruptKeys ?? ["Escape"]));
      await crew.state("ada", "idle");
      await until("an idle notice of it", async () => (await interruptNotices(crew, "ada")) > before);
    },
  },
  {
    id: "typed",
    text: "a turn typed in its pane is seen",
    async run({ crew, ada }) {
      await ada();
      const word = crew.word("typed");
      await crew.ok("type", "ada", `do-say: ${word} by hand`);
      await crew.modelGot(word);
      await crew.turnEnded(`${word} by hand`);
      await crew.state("ada", "idle");
    },
  },
  {
    id: "pane",
    text: "`peek`, `logs`, `hide` and `show`",
    async run({ crew, ada }) {
      await ada();
      for (const words of [
        ["peek", "ada"],
        ["logs", "ada"],
      ])
        check((await crew.ok(...words)).trim() !== "", `teams ${words[0]} prints nothing`);
      for (const words of [
        ["hide", "ada"],
        ["show", "ada"],
      ])
        await crew.ok(...words);
    },
  },
  {
    id: "cost",
    text: "tokens and cost are counted",
    async run({ crew, ada, tell }) {
      const before = await ada();
      const word = crew.word("cost");
      await tell(`do-say: ${word}`);
      await crew.turnEnded(word);
      const after = await crew.state("ada", "idle");
      check((after.tokens?.input ?? 0) > (before.tokens?.input ?? 0), "no tokens were counted", after.tokens);
      return (after.costUsd ?? 0) === 0 ? "it reports tokens only" : undefined;
    },
  },
];
