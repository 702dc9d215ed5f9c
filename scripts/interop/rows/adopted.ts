import { type PersonsPane, startByHand, startTeammate } from "../team/by-hand.ts";
import type { Crew } from "../team/crew.ts";
import { until } from "../team/wait.ts";
import { type Bench, check, type Row } from "./row.ts";

/** Starts the program as a person does, types its first turn, and ends it after the work. */
async function withOwn(
  { crew, program }: Bench,
  work: (pane: PersonsPane) => Promise<unknown>,
): Promise<unknown> {
  const { plain } = program;
  if (plain === undefined) throw new Error(`${program.id} has no screen`);
  // The thread of a codex is proven only while no other codex runs.
  for (const { name } of crew.config().members)
    if (name !== "team-lead") await crew.teams("kill", name, "--force");
  const pane = await startByHand(crew, plain.join(" "));
  try {
    const word = crew.word("alone");
    await pane.type(`do-say: ${word} at work`);
    await crew.turnEnded(`${word} at work`, 60_000);
    return await work(pane);
  } finally {
    pane.close();
    await crew.teams("kill", "joe", "--force");
  }
}

/** Checks that a message reaches the program of a pane, and that the program stays when the member leaves. */
async function reachAndRelease(crew: Crew, pane: PersonsPane): Promise<void> {
  const word = crew.word("adopted");
  await crew.ok("send", "joe", `do-say: ${word} heard`);
  await crew.turnEnded(`${word} heard`, 60_000);
  await crew.ok("kill", "joe");
  check(!crew.config().members.some(({ name }) => name === "joe"), "it is still a member");
  const after = crew.word("stays");
  await pane.type(`do-say: ${after} alone`);
  await crew.turnEnded(`${after} alone`, 60_000);
}

/** Programs that are already running. */
export const ADOPTED: readonly Row[] = [
  {
    id: "adopt",
    text: "`teams adopt`: a program that a person started gets messages, and stays when it leaves the team",
    limit: 240_000,
    run: (bench) =>
      withOwn(bench, async (pane) => {
        const { crew, program } = bench;
        const { delivery } = await crew.json<{ delivery: string }>("adopt", pane.paneId, "--name", "joe");
        const best = program.channel === "app-server" ? "codex queue" : "keys";
        check(delivery === best, "its messages are delivered another way", delivery);
        await reachAndRelease(crew, pane);
        if (program.channel !== "inbox")
          return `by ${delivery === "keys" ? "its keyboard" : `\`${delivery}\``}`;
        return `${await adoptTeammate(crew)}; another claude by its keyboard`;
      }),
  },
  {
    id: "join",
    text: "`teams join`, as a shell command in the program's own input",
    limit: 240_000,
    run: (bench) =>
      withOwn(bench, async (pane) => {
        const { crew } = bench;
        pane.keys("!");
        await pane.type("teams join crew --name joe");
        await until(
          "joe to be a member",
          () => crew.config().members.some(({ name }) => name === "joe"),
          60_000,
        );
        // A person leaves the shell mode of the input.
        if (bench.program.channel !== "app-server") pane.keys("Escape");
        await reachAndRelease(crew, pane);
      }),
  },
];

/** Adopts a claude that was started as a teammate: it reads its inbox itself. */
async function adoptTeammate(crew: Crew): Promise<string> {
  const pane = await startTeammate(crew, "hal");
  try {
    const word = crew.word("hello");
    await crew.ok("send", "hal", `do-say: ${word} by hal`);
    await crew.turnEnded(`${word} by hal`, 60_000);
    const { delivery } = await crew.json<{ delivery: string }>("adopt", pane.paneId);
    check(delivery === "inbox", "its messages are delivered another way", delivery);
    const next = crew.word("inbox");
    await crew.ok("send", "hal", `do-say: ${next} by hal`);
    await crew.turnEnded(`${next} by hal`, 60_000);
    return "a claude that was started as a teammate by its inbox";
  } finally {
    pane.close();
    await crew.teams("kill", "hal", "--force");
  }
}
