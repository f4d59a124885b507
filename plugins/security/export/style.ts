/** The page's one style sheet; its hash is in the page's policy, so nothing else may style it. Colours are the dashboard's. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fbfbfa;--sunken:#f4f4f2;--line:#e3e3df;--ink:#1c1c1a;--ink-2:#575752;--ink-3:#6e6e68;--accent:#3a5bd9;
--bad:#b42318;--user:#2b5fd0;--assistant:#1f7a4d;--thinking:#7a4fb8;--tool_use:#9a5b00;--tool_result:#4a6572;--note:#a8326e;--add:#e4f3e8;
--del:#fbe6e4}
@media (prefers-color-scheme:dark){:root{--bg:#111214;--sunken:#0c0d0f;--line:#2a2c31;--ink:#ececea;--ink-2:#b3b5ba;--ink-3:#8f939b;--accent:#8ea6ff;
--bad:#ff8a80;--user:#8ab0ff;--assistant:#6fd19a;--thinking:#c3a1f5;--tool_use:#f0b45c;--tool_result:#9db4c0;--note:#f08dbb;--add:#12281b;
--del:#331614}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:50rem;padding:2rem 1rem 3rem;background:var(--bg);color:var(--ink);font:.9375rem/1.6 "Inter Variable",Inter,-apple-system,"Segoe UI",Roboto,"Noto Sans",Cantarell,"Liberation Sans",Arial,system-ui,sans-serif;overflow-wrap:anywhere}
h1{margin:0 0 .75rem;font-size:1.375rem;line-height:1.35;font-weight:600}
h2{margin:0 0 .25rem;font-size:.8125rem;line-height:1.25rem;font-weight:600}
h3{margin:1rem 0 .25rem;font-size:.875rem;line-height:1.25rem;font-weight:600}
details h3{color:var(--ink-2);font-size:.75rem;margin:.5rem 0 0}
p,ul,ol,blockquote{margin:.5rem 0}
ul,ol{padding-left:1.5rem}
li>ul,li>ol,li>p{margin:.125rem 0}
li.task{list-style:none}
.wide{overflow-x:auto}
table{border-collapse:collapse}
th,td{padding:.25rem .625rem;border:1px solid var(--line);text-align:start}
hr{border:0;border-top:1px solid var(--line)}
blockquote{padding-left:.75rem;border-left:2px solid var(--line);color:var(--ink-2)}
header{padding-bottom:1rem;border-bottom:1px solid var(--line)}
dl{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;margin:0;font-size:.8125rem;line-height:1.25rem}
dl div{display:flex;gap:.375rem;min-width:0}
dt{flex:none;color:var(--ink-3)}
dd{margin:0;font-variant-numeric:tabular-nums;min-width:0}
.redacted{margin:.75rem 0 0;color:var(--ink-2);font-size:.8125rem}
article{padding:.25rem 0 .25rem .75rem;border-left:2px solid var(--line)}
article.user{margin-top:1.5rem;border-color:var(--user)}
article.assistant,article.note{margin-top:1rem}
article.assistant{border-color:var(--assistant)}
article.user h2{color:var(--user)}
article.assistant h2{color:var(--assistant)}
article.thinking summary{color:var(--thinking)}
article.tool_use summary b{color:var(--tool_use)}
article.tool_result summary b{color:var(--tool_result)}
article.note{color:var(--note);font-size:.8125rem}
article.note p{white-space:pre-wrap}
time{color:var(--ink-3);font-weight:400;font-variant-numeric:tabular-nums}
dd time{color:inherit}
a{color:var(--accent)}
summary{cursor:pointer;padding:.25rem 0;font-size:.8125rem;line-height:1.25rem;list-style:none}
summary::-webkit-details-marker{display:none}
summary::before{content:"";display:inline-block;width:.375rem;height:.375rem;margin:0 .5rem .0625rem .125rem;border:solid var(--ink-3);border-width:0 1.5px 1.5px 0;transform:rotate(-45deg)}
[open]>summary::before{transform:translateY(-.125rem) rotate(45deg)}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px;border-radius:2px}
code,pre{font:.8125rem/1.5 "JetBrains Mono Variable","JetBrains Mono",ui-monospace,Menlo,Consolas,"Noto Sans Mono","Liberation Mono",monospace}
code{background:var(--sunken);border-radius:3px;padding:0 .2em}
summary code{background:none;color:var(--ink-2);padding:0}
pre{margin:.5rem 0;padding:.5rem .75rem;max-height:30rem;overflow:auto;background:var(--sunken);border:1px solid var(--line);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}
pre.diff{padding-inline:0}
pre.diff ins,pre.diff del,pre.diff span{display:block;padding-inline:.75rem;text-decoration:none}
pre.diff ins{background:var(--add)}
pre.diff del{background:var(--del)}
.bad{color:var(--bad)}
.cut{color:var(--ink-3);font-size:.8125rem}
footer{margin-top:2rem;padding-top:.5rem;border-top:1px solid var(--line);color:var(--ink-3);font-size:.75rem}
@media print{:root{color-scheme:light;--bg:#fff;--sunken:#fff;--line:#bbb;--ink:#000;--ink-2:#222;--ink-3:#444;--accent:#000}body{max-width:none;
padding:0;font-size:10pt}pre{max-height:none;overflow:visible}details::details-content{content-visibility:visible;display:block;height:auto}
h2,summary{break-after:avoid}a[href]::after{content:" (" attr(href) ")"}}
`;
