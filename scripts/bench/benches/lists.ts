import { dirname, join } from "node:path";
import { atMost, type Bench } from "../figure.ts";
import { programFile, timeOfNode } from "../support/children.ts";
import { sampleInTurn } from "../support/samples.ts";
import { benchTeam, TEAM } from "../support/scratch.ts";
import { writeTasks } from "../support/tasks.ts";

const TASKS = 10_000;
const MEMBERS = 64;

/** Commands that read every file, in a large team. */
export const lists: Bench = {
  name: "lists",
  title: `Commands in a team of ${MEMBERS} with ${TASKS.toLocaleString("en")} tasks`,
  short: true,
  async run(setup) {
    const [place] = setup.places;
    if (place === undefined) return [];
    const names = Array.from({ length: MEMBERS }, (_, index) => `agent-${index}`);
    const { ref, env, directory } = await benchTeam(place, names);
    writeTasks(ref, TASKS, { done: TASKS / 2 });
    const options = { env, cwd: directory };
    const teams = (...words: string[]) => [join(setup.dist, "teams.cjs"), ...words, "--team", TEAM, "--json"];
    const commands = [teams("task", "list"), teams("status")];
    const reading = [programFile("read-all"), ref.paths.tasks, dirname(ref.paths.config), ref.paths.inboxes];
    const samples = await sampleInTurn(
      setup.amount(9, 3),
      [...commands, reading].map((words) => () => timeOfNode(words, options)),
    );
    const [list, status, read] = samples.map(({ median }) => median);
    const references = [{ what: "Node reading and parsing the same files", value: read ?? Number.NaN }];
    return [
      { what: "teams task list", value: list ?? Number.NaN, unit: "ms", references },
      {
        what: "teams status",
        value: status ?? Number.NaN,
        unit: "ms",
        references,
        goal: atMost(250, "ms", status ?? Number.NaN),
      },
    ];
  },
};
