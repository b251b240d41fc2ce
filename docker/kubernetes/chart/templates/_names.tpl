{{- /* All that is named here: the release's name, which is one application's. */ -}}
{{- define "firstclaim.name" -}}{{ .Release.Name }}{{- end }}

{{- define "firstclaim.application" -}}{{ .Values.application | default .Release.Name }}{{- end }}

{{- /* What pods are chosen by, in all zones. It never changes. */ -}}
{{- define "firstclaim.selector" -}}
app.kubernetes.io/name: firstclaim
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "firstclaim.labels" -}}
{{ include "firstclaim.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "firstclaim.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "firstclaim.port" -}}{{ if .Values.tls.secret }}8443{{ else }}8080{{ end }}{{- end }}

{{- /* Where probes ask, but for the path. */ -}}
{{- define "firstclaim.probe" -}}
port: http
scheme: {{ if .Values.tls.secret }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}
