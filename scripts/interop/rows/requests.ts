import { readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../team/wait.ts";
import { check, type Row } from "./row.ts";

/** Requests: permission, rules, modes, the first answer. */
export const REQUESTS: readonly Row[] = [
  {
    id: "approve",
    text: "a request appears in `teams approvals`; an approval reaches it",
    async run({ crew, ada, tell }) {
      await ada();
      const word = crew.word("asked");
      await tell(`do-run: mkdir ${word}`, `do-say: ${word} said`);
      const request = await crew.approval(word);
      await crew.state("ada", "needs-input");
      await crew.ok("approve", request.id);
      await crew.turnEnded(`${word} said`);
      check(crew.made(word), "the command has not run");
    },
  },
  {
    id: "deny",
    text: "a rejection reaches it",
    async run({ crew, ada, tell }) {
      await ada();
      const word = crew.word("refused");
      await tell(`do-run: mkdir ${word}`, `do-say: ${word} said`);
      await crew.ok("reject", (await crew.approval(word)).id);
      await crew.state("ada", "idle");
      check(!crew.made(word), "the command has run");
    },
  },
  {
    id: "reason",
    text: "the reason of a rejection reaches its model",
    async run({ crew, ada, tell }) {
      await ada();
      const word = crew.word("because");
      await tell(`do-run: mkdir ${word}`, `do-say: ${word} said`);
      await crew.ok("reject", (await crew.approval(word)).id, "--note", `no ${word} please`);
      await crew.modelGot(`no ${word} please`, 15_000);
      await crew.state("ada", "idle");
    },
  },
  {
    id: "rules",
    text: "rules allow and deny without a request",
    async run({ crew, ada, tell }) {
      await ada();
      const word = crew.word("rule");
      await tell(
        `do-run: install -d ruled-${word}`,
        `do-run: truncate -s 1 denied-${word}`,
        `do-say: ${word} said`,
      );
      await until("the end of the turn", async () => {
        const asked = (await crew.approvals()).find(({ summary }) => summary.includes(word));
        if (asked !== undefined) throw new Error(`it asks for ${asked.summary}`);
        return crew.model.requests.some(({ reply }) => reply.kind === "say" && reply.text === `${word} said`);
      });
      check(crew.made(`ruled-${word}`), "the allowed command has not run");
      check(!crew.made(`denied-${word}`), "the denied command has run");
    },
  },
  {
    id: "edit",
    text: "a change to a file needs a request, which shows its text",
    async run({ crew, ada, tell }) {
      await ada();
      const word = crew.word("file");
      await tell(`do-write: ${join(crew.repo, `${word}.txt`)}`, `do-say: ${word} said`);
      const request = await until(`a request to write ${word}.txt`, async () =>
        (await crew.approvals()).find(({ from }) => from === "ada"),
      );
      const shown = await crew.ok("approvals", request.id);
      await crew.ok("approve", request.id);
      await crew.state("ada", "idle");
      check(crew.made(`${word}.txt`), "the file is missing");
      check(readFileSync(join(crew.repo, `${word}.txt`), "utf8").includes("new text"), "its text is wrong");
      check(shown.includes("new text"), "the request does not show the text", shown.slice(0, 200));
    },
  },
  {
    id: "always",
    text: "`approve --always`: the next call needs no request",
    async run({ crew, ada, tell }) {
      await ada();
      const word = crew.word("always");
      await tell(crew.note(word), "do-say: first");
      const { always } = await crew.json<{ always?: { kept?: boolean | null } }>(
        "approve",
        (await crew.approval(word)).id,
        "--rule",
        `Bash(${crew.home}/bin/note:*)`,
      );
      await crew.state("ada", "idle");
      await tell(crew.note(`${word}-b`), `do-say: ${word} said`);
      const asked = await until("the second call, or a request for it", async () =>
        crew.made(`${word}-b`)
          ? "unasked"
          : (await crew.approvals()).find(({ summary }) => summary.includes(`${word}-b`)),
      );
      if (asked === "unasked") return undefined;
      await crew.ok("approve", asked.id);
      check(always?.kept === false, "it asks again, and teams had not said so", always);
      return "asks again, as teams says";
    },
  },
  {
    id: "screen",
    text: "an answer in its own screen counts",
    async run({ crew, program, ada, tell }) {
      const { paneId } = await ada();
      const word = crew.word("screen");
      await tell(`do-run: mkdir ${word}`, `do-say: ${word} said`);
      await crew.approval(word);
      await until("the request on its screen", async () => crew.screen({ paneId }).includes(word));
      const { keys, isYes } = program.answerKeys ?? { keys: [], isYes: true };
      await crew.ok("keys", "ada", ...keys);
      if (isYes) await crew.turnEnded(`${word} said`);
      else await crew.state("ada", "idle");
      check(crew.made(word) === isYes, isYes ? "the command has not run" : "the command has run");
      check((await crew.approvals()).length === 0, "the request is still open");
      return isYes ? undefined : "its screen can only deny";
    },
  },
  {
    id: "mode",
    text: "`teams mode` changes what it may do, or refuses with the reason",
    async run({ crew, ada, tell }) {
      await ada();
      const { code, err } = await crew.teams("mode", "ada", "acceptEdits");
      if (code !== 0) {
        check(/does not|cannot/.test(err), "the refusal has no reason", err);
        return "refused with the reason";
      }
      const word = crew.word("mode");
      await tell(`do-write: ${join(crew.repo, `${word}.txt`)}`, `do-say: ${word} said`);
      const seen = await until(
        "the file, or a request for it",
        async () => crew.made(`${word}.txt`) || (await crew.approvals())[0],
      );
      if (seen !== true) await crew.ok("approve", seen.id);
      await crew.ok("mode", "ada", "default");
      check(seen === true, "it still asks");
      return undefined;
    },
  },
];
