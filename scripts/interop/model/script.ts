import type { Ask, Call, OfferedTool, Piece, Reply } from "./ask.ts";

/**
 * The script of a turn is in its prompt, one step in each line:
 *
 *   do-run: COMMAND          a command in the program's shell
 *   do-write: FILE           a new file
 *   do-tool: NAME {JSON}     a tool; `mcp:NAME` is only a tool of an MCP server
 *   do-send: RECIPIENT TEXT  a message
 *   do-plan: TEXT            a plan for approval
 *   do-member: NAME PROMPT   a teammate of a claude that leads
 *   do-planner: NAME PROMPT  such a teammate that must plan first
 *   do-shutdown: NAME        asks a teammate to shut down
 *   do-offered: NAME …       lists which of these MCP tools the program offers its model
 *   do-fail: STATUS TEXT     an error of the server
 *   do-stay:                 no answer
 *   do-say: TEXT             the last words of the turn
 */
const STEP =
  /^\s*do-(run|write|tool|send|plan|member|planner|shutdown|offered|fail|stay|say): ?(.*?)(?:<\/[\w-]+>)?\s*$/gm;
/** Texts of teams and of programs that begin a turn without a script. */
const WITHOUT_SCRIPT =
  /ended during a turn|The limit of your account has ended|There is budget again|shutdown_request|Shutdown request|asks you to shut down|plan_approval_request/;
/** The id of a shutdown request, as claude and our agent show it. */
const SHUTDOWN =
  /"type":\s*"shutdown_request".*?"requestId":\s*"([^"]+)"|Shutdown request (shutdown-[\w@.-]*\w)/;
/** The id and the member of a plan that a leading claude must answer. */
const PLAN = /"type":\s*"plan_approval_request".*?"requestId":\s*"([^"]+)".*?"from":\s*"([^"]+)"/;
/** Maximum searches for tools in one turn. */
const MAX_SEARCHES = 6;
const SEARCH = /^(tool_search|ToolSearch)$/;

interface Step {
  readonly kind: string;
  readonly words: string;
}

/** Returns the answer to a request: the next step of the newest script in its conversation. Pure. */
export function replyTo(request: Ask): Reply {
  // Programs request titles and summaries without tools.
  if (request.tools.length === 0) return { kind: "say", text: "a title" };
  const at = request.pieces.findLastIndex((piece) => piece.kind === "text" && beginsTurn(piece.text));
  const piece = request.pieces[at];
  const searches = request.pieces.slice(at).filter((one) => one.kind === "call" && SEARCH.test(one.name));
  const offered = request.tools.filter(({ name }) => searches.length < MAX_SEARCHES || !SEARCH.test(name));
  const ask = { ...request, tools: [...offered, ...foundTools(request.pieces)] };
  const text = piece?.kind === "text" ? piece.text : "";
  const results = resultsIn(ask.pieces.slice(at + 1));
  const shutdown = SHUTDOWN.exec(text.replaceAll('\\"', '"'));
  const planned = PLAN.exec(text.replaceAll('\\"', '"'));
  if (planned !== null && results.length === 0) return approve(ask.tools, planned[1] ?? "", planned[2] ?? "");
  const steps = stepsOf(text);
  if (shutdown !== null && results.length === 0) return agree(ask.tools, shutdown[1] ?? shutdown[2] ?? "");
  const step = steps[Math.min(results.length, steps.length - 1)];
  if (step === undefined) return { kind: "say", text: "nothing to do" };
  const isLong = ["plan", "member", "planner"].includes(step.kind);
  if (results.length >= steps.length && !isLong) return { kind: "say", text: "done" };
  return perform(step, ask, results.slice(steps.indexOf(step)));
}

function beginsTurn(text: string): boolean {
  return stepsOf(text).length > 0 || WITHOUT_SCRIPT.test(text);
}

/** Returns the steps of the last script of a text: a program may join two prompts. */
function stepsOf(text: string): Step[] {
  const steps = [...text.matchAll(STEP)].map(([, kind = "", words = ""]) => ({ kind, words: words.trim() }));
  return steps.slice(steps.slice(0, -1).findLastIndex(({ kind }) => kind === "say") + 1);
}

/** Returns the results, without those of a search for tools. */
function resultsIn(pieces: readonly Piece[]): string[] {
  const names = new Map(pieces.flatMap((piece) => (piece.kind === "call" ? [[piece.id, piece.name]] : [])));
  return pieces.flatMap((piece) =>
    piece.kind === "result" && !SEARCH.test(names.get(piece.id) ?? "") ? [piece.text] : [],
  );
}

/** Returns the tools that a search has named: some programs take their names without offering them. */
function foundTools(pieces: readonly Piece[]): OfferedTool[] {
  const names = pieces.flatMap((piece) =>
    piece.kind === "result" && piece.text.includes("<function>")
      ? [...piece.text.matchAll(/<function>\{"name":"(\w+)"/g)].map(([, name = ""]) => name)
      : [],
  );
  return [...new Set(names)].map((name) => ({ name }));
}

function perform({ kind, words }: Step, ask: Ask, results: readonly string[]): Reply {
  const [first = "", ...rest] = words.split(" ");
  switch (kind) {
    case "say":
      return { kind: "say", text: words };
    case "stay":
      return { kind: "stay" };
    case "fail":
      return { kind: "fail", status: Number(first), message: rest.join(" ") };
    case "run":
      return call(ask.tools, shell(ask.tools, words));
    case "write":
      return call(ask.tools, file(ask.tools, words, "new text\n"));
    case "send":
      return call(ask.tools, message(ask.tools, first, rest.join(" ")));
    case "plan":
      return plan(ask, words, results);
    case "member":
      return member(ask.tools, first, rest.join(" "), results);
    case "planner":
      return member(ask.tools, first, rest.join(" "), results, { mode: "plan", subagent_type: "planner" });
    case "offered":
      return { kind: "say", text: `offered ${offeredOf(ask, words.split(" ")).join(" ")}.` };
    case "shutdown":
      return call(ask.tools, dismissal(ask.tools, first));
    default:
      return call(ask.tools, { name: first, input: JSON.parse(rest.join(" ") || "{}") });
  }
}

/** Calls a tool by the name that the program gives it; first searches for it if the program offers it only after a search. */
function call(tools: readonly OfferedTool[], wanted: Call): Reply {
  const name = wanted.name.replace(/^mcp:/, "");
  const own = name === wanted.name ? tools.find((tool) => tool.name === name) : undefined;
  const tool =
    own ??
    tools.find((one) => one.namespace !== undefined && one.name === name) ??
    tools.find((one) => one.name !== name && new RegExp(`(^|_)${name}$`).test(one.name));
  if (tool !== undefined)
    return { kind: "call", call: { name: tool.name, namespace: tool.namespace, input: wanted.input } };
  const search = tools.find((one) => SEARCH.test(one.name));
  if (search !== undefined) {
    const query = `select:${name === wanted.name ? `${name},` : ""}mcp__teams__${name}`;
    return { kind: "call", call: { name: search.name, input: { query, max_results: 5 } } };
  }
  return { kind: "say", text: `no tool ${name} among ${tools.map((one) => one.name).join(" ")}` };
}

/** Returns the names of MCP tools that the program offers, or that it names for a search. */
function offeredOf({ tools, pieces }: Ask, names: readonly string[]): readonly string[] {
  const texts = pieces.flatMap((piece) => (piece.kind === "text" ? [piece.text] : []));
  return names.filter(
    (name) =>
      tools.some((one) => one.namespace !== undefined && one.name === name) ||
      tools.some((one) => new RegExp(`_${name}$`).test(one.name)) ||
      texts.some((text) => text.includes(`mcp__teams__${name}`)),
  );
}

function shell(tools: readonly OfferedTool[], command: string): Call {
  const has = (name: string): boolean => tools.some((tool) => tool.name === name);
  if (has("exec_command")) return { name: "exec_command", input: { cmd: command } };
  if (has("shell")) return { name: "shell", input: { command: ["sh", "-c", command] } };
  const name = ["Bash", "bash", "run_shell_command"].find(has) ?? "Bash";
  const more = name === "run_shell_command" ? { is_background: false } : {};
  return { name, input: { command, description: "a command", ...more } };
}

function file(tools: readonly OfferedTool[], path: string, content: string): Call {
  const has = (name: string): boolean => tools.some((tool) => tool.name === name);
  if (has("Write")) return { name: "Write", input: { file_path: path, content } };
  if (has("write")) return { name: "write", input: { filePath: path, content } };
  if (has("write_file")) return { name: "write_file", input: { file_path: path, content } };
  const patch = `*** Begin Patch\n*** Add File: ${path}\n+${content.trimEnd()}\n*** End Patch`;
  return shell(tools, `apply_patch <<'EOF'\n${patch}\nEOF\n`);
}

function message(tools: readonly OfferedTool[], to: string, content: string): Call {
  const tool = tools.find(({ name }) => name.endsWith("SendMessage"));
  const isNew = JSON.stringify(tool?.schema ?? {}).includes('"to":');
  const input = isNew
    ? { to, message: content, summary: content.slice(0, 40) }
    : { type: "message", recipient: to, content, summary: content.slice(0, 40) };
  return { name: "SendMessage", input };
}

/** Starts a teammate; older versions of claude create the team first. */
function member(
  tools: readonly OfferedTool[],
  name: string,
  prompt: string,
  results: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Reply {
  const needsTeam = tools.some((tool) => tool.name === "TeamCreate");
  const input = { name, prompt, description: "a member", subagent_type: "general-purpose", ...more };
  const agent = tools.some((tool) => tool.name === "Agent") ? "Agent" : "Task";
  if (needsTeam && results.length === 0)
    return call(tools, { name: "TeamCreate", input: { team_name: "under", description: "d" } });
  if (results.length === (needsTeam ? 1 : 0))
    return call(tools, { name: agent, input: needsTeam ? { ...input, team_name: "under" } : input });
  return { kind: "say", text: "it is started" };
}

function dismissal(tools: readonly OfferedTool[], to: string): Call {
  const tool = tools.find(({ name }) => name === "SendMessage");
  const isNew = JSON.stringify(tool?.schema ?? {}).includes('"to":');
  const input = isNew
    ? { to, message: { type: "shutdown_request", reason: "over" } }
    : { type: "shutdown_request", recipient: to, content: "over" };
  return { name: "SendMessage", input };
}

function agree(tools: readonly OfferedTool[], id: string): Reply {
  const tool = tools.find(({ name }) => name === "SendMessage");
  const answer = { type: "shutdown_response", request_id: id, approve: true };
  const isNew = JSON.stringify(tool?.schema ?? {}).includes('"to":');
  return call(tools, { name: "SendMessage", input: isNew ? { to: "team-lead", message: answer } : answer });
}

function approve(tools: readonly OfferedTool[], id: string, to: string): Reply {
  const tool = tools.find(({ name }) => name === "SendMessage");
  const answer = { type: "plan_approval_response", request_id: id, approve: true };
  const isNew = JSON.stringify(tool?.schema ?? {}).includes('"to":');
  return call(tools, {
    name: "SendMessage",
    input: isNew ? { to, message: answer } : { ...answer, recipient: to },
  });
}

/** Presents a plan; most programs need it in a file first, which the error of ExitPlanMode names. */
function plan(ask: Ask, text: string, results: readonly string[]): Reply {
  const last = results.at(-1) ?? "";
  const made = ask.pieces.findLast((piece) => piece.kind === "call");
  const hasPresented = results.length > 0 && made?.kind === "call" && made.name.endsWith("ExitPlanMode");
  // claude 2.1.150 names its file too, although it has presented the plan.
  const isMissing = /no plan file/i.test(last);
  const path = isMissing ? /(\/[^\s"'\\`]+\/plans\/[^\s"'\\`]+\.md)/.exec(last)?.[1] : undefined;
  if (!hasPresented && results.length < 3)
    return call(ask.tools, { name: "ExitPlanMode", input: { plan: text } });
  if (results.length === 1 && path !== undefined) return call(ask.tools, file(ask.tools, path, text));
  return { kind: "say", text: "the plan is presented" };
}
