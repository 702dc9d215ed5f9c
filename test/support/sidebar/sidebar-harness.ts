/**
 * The sidebar as a program: reads its data from a file, is notified by SIGUSR1, and logs every call.
 *
 *   node sidebar-harness.cjs DATA.json LOG
 *
 * LOAD_CPU_MS in its environment makes each read cost this much processor time; SIDEBAR_ASCII=1 is a terminal without UTF-8.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { TeamError } from "../../../src/errors.ts";
import type { SidebarData } from "../../../src/sidebar/data.ts";
import type { Content } from "../../../src/sidebar/documents.ts";
import { runSidebar } from "../../../src/sidebar/sidebar.ts";
import type { Bell } from "../../../src/wakeup/bell.ts";

const [dataFile = "", logFile = ""] = process.argv.slice(2);
const log = (text: string): void => appendFileSync(logFile, `${text}\n`);

/** Keeps one ring, as every bell does, so that a ring between two waits is not lost. */
function signalBell(): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  const ring = (): void => {
    rung = true;
    wake?.();
  };
  process.on("SIGUSR1", ring);
  return {
    async wait({ signal } = {}) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        signal?.addEventListener("abort", () => resolve(), { once: true });
        if (rung || signal?.aborted) resolve();
      });
      if (signal?.aborted) return "aborted";
      rung = false;
      return "rung";
    },
    close: () => process.off("SIGUSR1", ring),
  };
}

const loadCpuMs = Number(process.env.LOAD_CPU_MS ?? 0);

function useProcessor(ms: number): void {
  const before = process.cpuUsage();
  for (let used = 0; used < ms; ) {
    const { user, system } = process.cpuUsage(before);
    used = (user + system) / 1000;
  }
}

async function load(): Promise<SidebarData> {
  log("load");
  useProcessor(loadCpuMs);
  const text = readFileSync(dataFile, "utf8");
  if (text === "gone") throw new TeamError("TEAM_NOT_FOUND", "There is no team “audit”.");
  return JSON.parse(text) as SidebarData;
}

/** The team's data, and the documents that the sidebar can open. */
interface HarnessData extends SidebarData {
  readonly documents?: Partial<Record<Content["kind"], Content>>;
}

function done(what: string): (name: string) => Promise<string> {
  return async (name) => {
    log(`${what} ${name}`);
    return `${what} of ${name} is done`;
  };
}

void runSidebar({
  load,
  changed: signalBell(),
  color: !process.env.NO_COLOR,
  ascii: process.env.SIDEBAR_ASCII === "1",
  act: {
    member: {
      async focus(name) {
        log(`focus ${name}`);
        if (name === "history") throw new Error("The pane of history is gone.");
        return undefined;
      },
      zoom: done("zoom"),
      hide: done("hide"),
      interrupt: done("interrupt"),
      shutdown: done("shutdown"),
      kill: done("kill"),
    },
    async answer(answer) {
      log(`answer ${JSON.stringify(answer)}`);
      return `${answer.from} is notified`;
    },
    async message(to, text) {
      log(`message ${JSON.stringify({ to, text })}`);
      return undefined;
    },
    async comments(member, comments) {
      log(`comments ${JSON.stringify({ member, comments })}`);
      return `sent ${comments.length}`;
    },
    async spawn(name, prompt) {
      log(`spawn ${JSON.stringify({ name, prompt })}`);
      return `${name} is ready`;
    },
    open(source) {
      log(`open ${source.kind}`);
      const read = (): Content => {
        const { documents = {} } = JSON.parse(readFileSync(dataFile, "utf8")) as HarnessData;
        const content = documents[source.kind];
        if (content === undefined) throw new Error(`there is no ${source.kind}`);
        return content;
      };
      return { read, renews: "with-data", close: () => log(`close ${source.kind}`) };
    },
  },
}).then((end) => log(`end ${end.kind}`));
