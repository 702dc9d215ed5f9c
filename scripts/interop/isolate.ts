import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { userInfo } from "node:os";

const NOBODY = 65_534;
const NEEDS =
  "scripts/interop needs Linux with unshare and setpriv (util-linux) and ip (iproute2), and either root or user namespaces for this user (util-linux 2.38 or newer).";

/** How a command is run without a network, in a PID namespace, by an unprivileged user. */
export interface Isolation {
  /** The user of the isolated processes, as the rest of this machine sees it. */
  readonly uid: number;
  start(argv: readonly string[], env: Readonly<Record<string, string>>): ChildProcess;
  /** Returns the given paths that the isolated user cannot read. */
  unreadable(paths: readonly string[]): readonly string[];
}

/** @throws Error that says what this machine lacks */
export function isolation(): Isolation {
  if (process.platform !== "linux") throw new Error(NEEDS);
  const { uid } = userInfo();
  const own = uid === 0 ? asRoot : asUser(uid);
  try {
    const [file = "", ...words] = own(["true"]);
    execFileSync(file, words, { stdio: ["ignore", "ignore", "pipe"], timeout: 10_000 });
  } catch (error) {
    throw new Error(`${NEEDS} Nothing was run.\n${error instanceof Error ? error.message : error}`);
  }
  return {
    uid: uid === 0 ? NOBODY : uid,
    start: (argv, env) => {
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const [file = "", ...words] = own(["env", "-i", ...variables, ...argv]);
      return spawn(file, words, { stdio: ["ignore", "pipe", "inherit"] });
    },
    unreadable(paths) {
      const script = 'for path; do [ -r "$path" ] && [ -x "$path" ] || echo "$path"; done';
      const [file = "", ...words] = own(["sh", "-c", script, "sh", ...paths]);
      return execFileSync(file, words, { encoding: "utf8", timeout: 10_000 }).split("\n").filter(Boolean);
    },
  };
}

/** The shell stays the first process, so that it reaps zombies; when it ends, every process of the namespace ends. */
const NAMESPACES = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
const SHELL = ["sh", "-c", 'ip link set lo up && "$@"; exit $?', "sh"];

function asRoot(argv: readonly string[]): string[] {
  const user = [
    "setpriv",
    `--reuid=${NOBODY}`,
    `--regid=${NOBODY}`,
    "--clear-groups",
    "--no-new-privs",
    "--",
  ];
  return ["unshare", ...NAMESPACES, "--", ...SHELL, ...user, ...argv];
}

/** Only root of a user namespace may bring loopback up; an inner namespace then revokes that right. */
function asUser(uid: number) {
  return (argv: readonly string[]): string[] => {
    const user = ["unshare", "--user", `--map-user=${uid}`, "--"];
    return ["unshare", "--user", "--map-root-user", ...NAMESPACES, "--", ...SHELL, ...user, ...argv];
  };
}
