/** Options of programs without a table whose name says that their value is a program, code or a library. */
export const LOADS =
  /^--?(?:[a-z]+-)*(?:exec|execut(?:e(?:-\w+)?|able)|kubeconfig|post-renderer|run_under|bazelrc|rcfile|globalSetup|setupFiles(?:AfterEnv)?|command|cmd|eval|plugins?|require|preload|loader|init-script|wrapper|launcher|editor|pager|shell|hooks?|askpass|rsh|addons?|rulesdir|resolve-plugins-relative-to)(?:-(?:file|path|dir))?(?:=|$)/;
