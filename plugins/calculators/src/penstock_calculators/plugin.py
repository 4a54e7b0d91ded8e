"""The components of this pack, by name; importing this module imports no other module of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the calculators and their options: names to "module:attribute", imported on first use."""
    return Components(
        calculators={
            "AddHeaderCalculator": "penstock_calculators.add_header:AddHeaderCalculator",
            "BeginItemLoopCalculator": "penstock_calculators.item_loop:BeginItemLoopCalculator",
            "BeginLoopDetectionCalculator": "penstock_calculators.begin_loop:BeginLoopDetectionCalculator",
            "BeginLoopFloatCalculator": "penstock_calculators.begin_loop:BeginLoopFloatCalculator",
            "BeginLoopImageCalculator": "penstock_calculators.begin_loop:BeginLoopImageCalculator",
            "BeginLoopImageFrameCalculator": "penstock_calculators.begin_loop:BeginLoopImageFrameCalculator",
            "BeginLoopIntCalculator": "penstock_calculators.begin_loop:BeginLoopIntCalculator",
            "BeginLoopMatrixCalculator": "penstock_calculators.begin_loop:BeginLoopMatrixCalculator",
            "BeginLoopMatrixVectorCalculator": (
                "penstock_calculators.begin_loop:BeginLoopMatrixVectorCalculator"
            ),
            "BeginLoopNormalizedLandmarkListVectorCalculator": (
                "penstock_calculators.begin_loop:BeginLoopNormalizedLandmarkListVectorCalculator"
            ),
            "BeginLoopNormalizedRectCalculator": (
                "penstock_calculators.begin_loop:BeginLoopNormalizedRectCalculator"
            ),
            "BeginLoopStringCalculator": "penstock_calculators.begin_loop:BeginLoopStringCalculator",
            "BeginLoopTensorCalculator": "penstock_calculators.begin_loop:BeginLoopTensorCalculator",
            "BeginLoopUint64tCalculator": "penstock_calculators.begin_loop:BeginLoopUint64tCalculator",
            "BudgetCalculator": "penstock_calculators.budget:BudgetCalculator",
            "BypassCalculator": "penstock_calculators.bypass:BypassCalculator",
            "CallbackCalculator": "penstock_calculators.callback:CallbackCalculator",
            "ClassificationListVectorSizeCalculator": (
                "penstock_calculators.vector_indices:ClassificationListVectorSizeCalculator"
            ),
            "ClipDetectionVectorSizeCalculator": (
                "penstock_calculators.clip_vector_size:ClipDetectionVectorSizeCalculator"
            ),
            "ClipNormalizedRectVectorSizeCalculator": (
                "penstock_calculators.clip_vector_size:ClipNormalizedRectVectorSizeCalculator"
            ),
            "ClockLatencyCalculator": ("penstock_calculators.clocks:ClockLatencyCalculator"),
            "ClockTimestampCalculator": ("penstock_calculators.clocks:ClockTimestampCalculator"),
            "ConcatenateBoolVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateBoolVectorCalculator"
            ),
            "ConcatenateClassificationListCalculator": (
                "penstock_calculators.concatenate:ConcatenateClassificationListCalculator"
            ),
            "ConcatenateClassificationListVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateClassificationListVectorCalculator"
            ),
            "ConcatenateDetectionVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateDetectionVectorCalculator"
            ),
            "ConcatenateFloatVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateFloatVectorCalculator"
            ),
            "ConcatenateImageVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateImageVectorCalculator"
            ),
            "ConcatenateInt32VectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateInt32VectorCalculator"
            ),
            "ConcatenateJointListCalculator": (
                "penstock_calculators.concatenate:ConcatenateJointListCalculator"
            ),
            "ConcatenateLandmarListVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateLandmarListVectorCalculator"
            ),
            "ConcatenateLandmarkListCalculator": (
                "penstock_calculators.concatenate:ConcatenateLandmarkListCalculator"
            ),
            "ConcatenateLandmarkListVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateLandmarkListVectorCalculator"
            ),
            "ConcatenateLandmarkVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateLandmarkVectorCalculator"
            ),
            "ConcatenateNormalizedLandmarkListCalculator": (
                "penstock_calculators.concatenate:ConcatenateNormalizedLandmarkListCalculator"
            ),
            "ConcatenateNormalizedLandmarkListVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateNormalizedLandmarkListVectorCalculator"
            ),
            "ConcatenateRenderDataVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateRenderDataVectorCalculator"
            ),
            "ConcatenateStringVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateStringVectorCalculator"
            ),
            "ConcatenateTensorVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateTensorVectorCalculator"
            ),
            "ConcatenateTfLiteTensorVectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateTfLiteTensorVectorCalculator"
            ),
            "ConcatenateUInt64VectorCalculator": (
                "penstock_calculators.concatenate:ConcatenateUInt64VectorCalculator"
            ),
            "ConstantSidePacketCalculator": (
                "penstock_calculators.constant_side_packet:ConstantSidePacketCalculator"
            ),
            "CountingSourceCalculator": "penstock_calculators.counting_source:CountingSourceCalculator",
            "DefaultSidePacketCalculator": (
                "penstock_calculators.default_side_packet:DefaultSidePacketCalculator"
            ),
            "DequantizeByteArrayCalculator": "penstock_calculators.quantize:DequantizeByteArrayCalculator",
            "EndItemLoopCalculator": "penstock_calculators.item_loop:EndItemLoopCalculator",
            "EndLoopAffineMatrixCalculator": "penstock_calculators.end_loop:EndLoopAffineMatrixCalculator",
            "EndLoopBooleanCalculator": "penstock_calculators.end_loop:EndLoopBooleanCalculator",
            "EndLoopClassificationListCalculator": (
                "penstock_calculators.end_loop:EndLoopClassificationListCalculator"
            ),
            "EndLoopDetectionCalculator": "penstock_calculators.end_loop:EndLoopDetectionCalculator",
            "EndLoopFloatCalculator": "penstock_calculators.end_loop:EndLoopFloatCalculator",
            "EndLoopImageCalculator": "penstock_calculators.end_loop:EndLoopImageCalculator",
            "EndLoopImageFrameCalculator": "penstock_calculators.end_loop:EndLoopImageFrameCalculator",
            "EndLoopImageSizeCalculator": "penstock_calculators.end_loop:EndLoopImageSizeCalculator",
            "EndLoopLandmarkListVectorCalculator": (
                "penstock_calculators.end_loop:EndLoopLandmarkListVectorCalculator"
            ),
            "EndLoopMatrixCalculator": "penstock_calculators.end_loop:EndLoopMatrixCalculator",
            "EndLoopNormalizedLandmarkListVectorCalculator": (
                "penstock_calculators.end_loop:EndLoopNormalizedLandmarkListVectorCalculator"
            ),
            "EndLoopNormalizedRectCalculator": (
                "penstock_calculators.end_loop:EndLoopNormalizedRectCalculator"
            ),
            "EndLoopRenderDataCalculator": "penstock_calculators.end_loop:EndLoopRenderDataCalculator",
            "EndLoopTensorCalculator": "penstock_calculators.end_loop:EndLoopTensorCalculator",
            "EndLoopTfLiteTensorCalculator": "penstock_calculators.end_loop:EndLoopTfLiteTensorCalculator",
            "FlowLimiterCalculator": "penstock_calculators.flow_limiter:FlowLimiterCalculator",
            "GateCalculator": "penstock_calculators.gate:GateCalculator",
            "GetClassificationListVectorItemCalculator": (
                "penstock_calculators.get_vector_item:GetClassificationListVectorItemCalculator"
            ),
            "GetDetectionVectorItemCalculator": (
                "penstock_calculators.get_vector_item:GetDetectionVectorItemCalculator"
            ),
            "GetLandmarkListVectorItemCalculator": (
                "penstock_calculators.get_vector_item:GetLandmarkListVectorItemCalculator"
            ),
            "GetNormalizedLandmarkListVectorItemCalculator": (
                "penstock_calculators.get_vector_item:GetNormalizedLandmarkListVectorItemCalculator"
            ),
            "GetNormalizedRectVectorItemCalculator": (
                "penstock_calculators.get_vector_item:GetNormalizedRectVectorItemCalculator"
            ),
            "GetRectVectorItemCalculator": "penstock_calculators.get_vector_item:GetRectVectorItemCalculator",
            "GraphProfileCalculator": "penstock_calculators.graph_profile:GraphProfileCalculator",
            "ImmediateMuxCalculator": "penstock_calculators.immediate_mux:ImmediateMuxCalculator",
            "IntVectorIndicesCalculator": "penstock_calculators.vector_indices:IntVectorIndicesCalculator",
            "LandmarkListVectorSizeCalculator": (
                "penstock_calculators.vector_indices:LandmarkListVectorSizeCalculator"
            ),
            "LocalFilePatternContentsCalculator": (
                "penstock_calculators.local_file_pattern_contents:LocalFilePatternContentsCalculator"
            ),
            "LogicCalculator": ("penstock_calculators.logic:LogicCalculator"),
            "MakePairCalculator": "penstock_calculators.make_pair:MakePairCalculator",
            "MatrixMultiplyCalculator": "penstock_calculators.matrices:MatrixMultiplyCalculator",
            "MatrixSubtractCalculator": "penstock_calculators.matrices:MatrixSubtractCalculator",
            "MatrixToVectorCalculator": "penstock_calculators.matrices:MatrixToVectorCalculator",
            "MergeCalculator": "penstock_calculators.merge:MergeCalculator",
            "MergeDetectionsToVectorCalculator": (
                "penstock_calculators.merge_to_vector:MergeDetectionsToVectorCalculator"
            ),
            "MergeImagesToVectorCalculator": (
                "penstock_calculators.merge_to_vector:MergeImagesToVectorCalculator"
            ),
            "MovableSplitImageFrameVectorCalculator": (
                "penstock_calculators.split:MovableSplitImageFrameVectorCalculator"
            ),
            "MuxCalculator": "penstock_calculators.mux:MuxCalculator",
            "NonZeroCalculator": "penstock_calculators.non_zero:NonZeroCalculator",
            "NormalizedLandmarkListVectorIndicesCalculator": (
                "penstock_calculators.vector_indices:NormalizedLandmarkListVectorIndicesCalculator"
            ),
            "PacketClonerCalculator": "penstock_calculators.packet_cloner:PacketClonerCalculator",
            "PacketFrequencyCalculator": ("penstock_calculators.packet_frequency:PacketFrequencyCalculator"),
            "PacketInnerJoinCalculator": "penstock_calculators.packet_inner_join:PacketInnerJoinCalculator",
            "PacketLatencyCalculator": ("penstock_calculators.packet_latency:PacketLatencyCalculator"),
            "PacketPresenceCalculator": "penstock_calculators.packet_presence:PacketPresenceCalculator",
            "PacketResamplerCalculator": "penstock_calculators.packet_resampler:PacketResamplerCalculator",
            "PacketSequencerCalculator": "penstock_calculators.packet_sequencer:PacketSequencerCalculator",
            "PacketThinnerCalculator": "penstock_calculators.packet_thinner:PacketThinnerCalculator",
            "PassThroughCalculator": "penstock_calculators.pass_through:PassThroughCalculator",
            "PreviousLoopbackCalculator": "penstock_calculators.previous_loopback:PreviousLoopbackCalculator",
            "QuantizeFloatVectorCalculator": "penstock_calculators.quantize:QuantizeFloatVectorCalculator",
            "RealTimeFlowLimiterCalculator": (
                "penstock_calculators.real_time_flow_limiter:RealTimeFlowLimiterCalculator"
            ),
            "RoundRobinDemuxCalculator": "penstock_calculators.round_robin_demux:RoundRobinDemuxCalculator",
            "SequenceShiftCalculator": "penstock_calculators.sequence_shift:SequenceShiftCalculator",
            "ShadowDiffCalculator": "penstock_calculators.shadow_pairs:ShadowDiffCalculator",
            "ShadowPairCalculator": "penstock_calculators.shadow_pairs:ShadowPairCalculator",
            "SidePacketToStreamCalculator": (
                "penstock_calculators.side_packet_to_stream:SidePacketToStreamCalculator"
            ),
            "SidePacketsToStreamsCalculator": (
                "penstock_calculators.side_packets_to_streams:SidePacketsToStreamsCalculator"
            ),
            "SplitAffineMatrixVectorCalculator": (
                "penstock_calculators.split:SplitAffineMatrixVectorCalculator"
            ),
            "SplitClassificationListVectorCalculator": (
                "penstock_calculators.split:SplitClassificationListVectorCalculator"
            ),
            "SplitDetectionVectorCalculator": "penstock_calculators.split:SplitDetectionVectorCalculator",
            "SplitFloatVectorCalculator": "penstock_calculators.split:SplitFloatVectorCalculator",
            "SplitImageVectorCalculator": "penstock_calculators.split:SplitImageVectorCalculator",
            "SplitJointListCalculator": "penstock_calculators.split:SplitJointListCalculator",
            "SplitLandmarkListCalculator": "penstock_calculators.split:SplitLandmarkListCalculator",
            "SplitLandmarkVectorCalculator": "penstock_calculators.split:SplitLandmarkVectorCalculator",
            "SplitMatrixVectorCalculator": "penstock_calculators.split:SplitMatrixVectorCalculator",
            "SplitNormalizedLandmarkListCalculator": (
                "penstock_calculators.split:SplitNormalizedLandmarkListCalculator"
            ),
            "SplitNormalizedLandmarkListVectorCalculator": (
                "penstock_calculators.split:SplitNormalizedLandmarkListVectorCalculator"
            ),
            "SplitNormalizedRectVectorCalculator": (
                "penstock_calculators.split:SplitNormalizedRectVectorCalculator"
            ),
            "SplitTensorVectorCalculator": "penstock_calculators.split:SplitTensorVectorCalculator",
            "SplitTfLiteTensorVectorCalculator": (
                "penstock_calculators.split:SplitTfLiteTensorVectorCalculator"
            ),
            "SplitUint64tVectorCalculator": "penstock_calculators.split:SplitUint64tVectorCalculator",
            "StreamToSidePacketCalculator": (
                "penstock_calculators.stream_to_side_packet:StreamToSidePacketCalculator"
            ),
            "StringToInt32Calculator": "penstock_calculators.string_to_int:StringToInt32Calculator",
            "StringToInt64Calculator": "penstock_calculators.string_to_int:StringToInt64Calculator",
            "StringToIntCalculator": "penstock_calculators.string_to_int:StringToIntCalculator",
            "StringToUint32Calculator": "penstock_calculators.string_to_int:StringToUint32Calculator",
            "StringToUint64Calculator": "penstock_calculators.string_to_int:StringToUint64Calculator",
            "StringToUintCalculator": "penstock_calculators.string_to_int:StringToUintCalculator",
            "SwitchDemuxCalculator": "penstock_calculators.switch_demux:SwitchDemuxCalculator",
            "SwitchMuxCalculator": "penstock_calculators.switch_mux:SwitchMuxCalculator",
            "Uint64tVectorIndicesCalculator": (
                "penstock_calculators.vector_indices:Uint64tVectorIndicesCalculator"
            ),
            "ValueOrDefaultCalculator": "penstock_calculators.value_or_default:ValueOrDefaultCalculator",
        },
        subgraphs={
            "Shadow": "penstock_calculators.shadow:Shadow",
            "SwitchContainer": "penstock_calculators.switch_container:SwitchContainer",
        },
        options={
            "penstock.BypassCalculatorOptions": (
                "penstock.CalculatorOptions",
                481259677,
                "penstock_calculators.bypass_calculator_pb2:BypassCalculatorOptions",
            ),
            "penstock.ClipVectorSizeCalculatorOptions": (
                "penstock.CalculatorOptions",
                274674998,
                "penstock_calculators.clip_vector_size_calculator_pb2:ClipVectorSizeCalculatorOptions",
            ),
            "penstock.ConcatenateVectorCalculatorOptions": (
                "penstock.CalculatorOptions",
                259397839,
                "penstock_calculators.concatenate_vector_calculator_pb2:ConcatenateVectorCalculatorOptions",
            ),
            "penstock.ConstantSidePacketCalculatorOptions": (
                "penstock.CalculatorOptions",
                291214597,
                "penstock_calculators.constant_side_packet_calculator_pb2:ConstantSidePacketCalculatorOptions",
            ),
            "penstock.DequantizeByteArrayCalculatorOptions": (
                "penstock.CalculatorOptions",
                272316343,
                "penstock_calculators.dequantize_byte_array_calculator_pb2:DequantizeByteArrayCalculatorOptions",
            ),
            "penstock.FlowLimiterCalculatorOptions": (
                "penstock.CalculatorOptions",
                326963320,
                "penstock_calculators.flow_limiter_calculator_pb2:FlowLimiterCalculatorOptions",
            ),
            "penstock.GateCalculatorOptions": (
                "penstock.CalculatorOptions",
                261754847,
                "penstock_calculators.gate_calculator_pb2:GateCalculatorOptions",
            ),
            "penstock.GetVectorItemCalculatorOptions": (
                "penstock.CalculatorOptions",
                463538543,
                "penstock_calculators.get_vector_item_calculator_pb2:GetVectorItemCalculatorOptions",
            ),
            "penstock.GraphProfileCalculatorOptions": (
                "penstock.CalculatorOptions",
                367481815,
                "penstock_calculators.graph_profile_calculator_pb2:GraphProfileCalculatorOptions",
            ),
            "penstock.ImmediateMuxCalculatorOptions": (
                "penstock_calculators.immediate_mux_calculator_pb2:ImmediateMuxCalculatorOptions"
            ),
            "penstock.LogicCalculatorOptions": (
                "penstock.CalculatorOptions",
                338731246,
                "penstock_calculators.logic_calculator_pb2:LogicCalculatorOptions",
            ),
            "penstock.PacketClonerCalculatorOptions": (
                "penstock.CalculatorOptions",
                258872085,
                "penstock_calculators.packet_cloner_calculator_pb2:PacketClonerCalculatorOptions",
            ),
            "penstock.PacketFrequencyCalculatorOptions": (
                "penstock.CalculatorOptions",
                168468918,
                "penstock_calculators.packet_frequency_calculator_pb2:PacketFrequencyCalculatorOptions",
            ),
            "penstock.PacketLatencyCalculatorOptions": (
                "penstock.CalculatorOptions",
                172681421,
                "penstock_calculators.packet_latency_calculator_pb2:PacketLatencyCalculatorOptions",
            ),
            "penstock.PacketResamplerCalculatorOptions": (
                "penstock.CalculatorOptions",
                95743844,
                "penstock_calculators.packet_resampler_calculator_pb2:PacketResamplerCalculatorOptions",
            ),
            "penstock.PacketThinnerCalculatorOptions": (
                "penstock.CalculatorOptions",
                288533508,
                "penstock_calculators.packet_thinner_calculator_pb2:PacketThinnerCalculatorOptions",
            ),
            "penstock.QuantizeFloatVectorCalculatorOptions": (
                "penstock.CalculatorOptions",
                259848061,
                "penstock_calculators.quantize_float_vector_calculator_pb2:QuantizeFloatVectorCalculatorOptions",
            ),
            "penstock.SequenceShiftCalculatorOptions": (
                "penstock.CalculatorOptions",
                107633927,
                "penstock_calculators.sequence_shift_calculator_pb2:SequenceShiftCalculatorOptions",
            ),
            "penstock.ShadowOptions": "penstock_calculators.shadow_pb2:ShadowOptions",
            "penstock.SidePacketsToStreamsCalculatorOptions": (
                "penstock.CalculatorOptions",
                60982839,
                "penstock_calculators.side_packets_to_streams_calculator_pb2:SidePacketsToStreamsCalculatorOptions",
            ),
            "penstock.SplitVectorCalculatorOptions": (
                "penstock.CalculatorOptions",
                259438222,
                "penstock_calculators.split_vector_calculator_pb2:SplitVectorCalculatorOptions",
            ),
            "penstock.SwitchContainerOptions": (
                "penstock.CalculatorOptions",
                345967970,
                "penstock_calculators.switch_container_pb2:SwitchContainerOptions",
            ),
        },
    )
